/* A rigid body in the plane, as somebody else's FMU: FMI 2, co-simulation (Runge-Kutta 4 of one part per step) and model exchange.
   Force and moment act at a port that lies `arm` beside the mass centre; defines make it misbehave. The same body the other way
   round: told how its port moves, it shows the force and moment that this takes; there a spring may draw its port to the origin.
   With LED_PLACE its port is told where it goes, and how it is turned follows from the moment: force out, and angle out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NOMINAL
#define NOMINAL 1
#endif

enum { X, Y, TURN, VX, VY, SPIN, STATES };
enum { FX = 10, FY, MZ, MASS, INERTIA, ARM, GRAVITY, DAMPING, PX, PY, ANGLE, PVX, PVY, OMEGA, KINETIC, POTENTIAL, FLOOR, STIFFNESS,
       GEAR, ON, TOLD = 30, SHOWN = 40, LAST = 46, TURNS = 50, FAST };

typedef void *Component;
typedef unsigned int Ref;
typedef struct { double x[STATES], u[LAST], old[3], time; } Body;

static void slopes(const Body *b, const double *x, double *dx) {
  double c = cos(x[TURN]), s = sin(x[TURN]), ax = b->u[ARM] * c, ay = b->u[ARM] * s;
  dx[X] = x[VX]; dx[Y] = x[VY]; dx[TURN] = x[SPIN];
  dx[VX] = (b->u[FX] - b->u[DAMPING] * x[VX]) / b->u[MASS];
  dx[VY] = (b->u[FY] - b->u[DAMPING] * x[VY]) / b->u[MASS] - b->u[GRAVITY];
  dx[SPIN] = (b->u[MZ] * b->u[GEAR] * b->u[ON] + ax * b->u[FY] - ay * b->u[FX]) / b->u[INERTIA];
}

/* how it turns while its port is accelerated by (ax, ay): its moment about the port */
static double turning(const Body *b, double turn, double ax, double ay) {
  double rx = b->u[ARM] * cos(turn), ry = b->u[ARM] * sin(turn), m = b->u[MASS];
  return (b->u[MZ] + m * (rx * (ay + b->u[GRAVITY]) - ry * ax)) / (b->u[INERTIA] + m * b->u[ARM] * b->u[ARM]);
}

static void led(Body *b) { /* the port is where it is told, and turns as it does */
  double *p = b->u + TOLD;
  p[2] = b->x[TURN]; p[5] = b->x[SPIN]; p[8] = turning(b, p[2], p[6], p[7]);
}

static double taken(const Body *b, Ref r) {
  const double *p = b->u + TOLD, *v = p + 3, *a = p + 6, m = b->u[MASS];
  double rx = b->u[ARM] * cos(p[2]), ry = b->u[ARM] * sin(p[2]), vx = v[0] + v[2] * ry, vy = v[1] - v[2] * rx;
  double fx = m * (a[0] + a[2] * ry + v[2] * v[2] * rx) + b->u[DAMPING] * vx;
  double fy = m * (a[1] - a[2] * rx + v[2] * v[2] * ry + b->u[GRAVITY]) + b->u[DAMPING] * vy;
  switch (r - SHOWN) {
    case 0: return fx + b->u[STIFFNESS] * p[0];
    case 1: return fy + b->u[STIFFNESS] * p[1];
    case 2: return b->u[INERTIA] * a[2] - rx * fy + ry * fx;
    case 3: return 0.5 * m * (vx * vx + vy * vy) + 0.5 * b->u[INERTIA] * v[2] * v[2];
  }
  return m * b->u[GRAVITY] * (p[1] - ry) + 0.5 * b->u[STIFFNESS] * (p[0] * p[0] + p[1] * p[1]);
}

static double shown(const Body *b, Ref r) {
#ifdef LED_PLACE
  led((Body *)b);
  if (r == ANGLE || r == OMEGA) return r == ANGLE ? b->x[TURN] : b->x[SPIN];
#endif
  if (r >= SHOWN) return taken(b, r);
  const double *x = b->x;
  double ax = b->u[ARM] * cos(x[TURN]), ay = b->u[ARM] * sin(x[TURN]);
  switch (r) {
    case PX: return x[X] + ax;
    case PY: return x[Y] + ay;
#ifdef IN_DEGREES
    case ANGLE: return x[TURN] * 57.29577951308232;
#elif defined WRAPPED
    case ANGLE: return remainder(x[TURN], 6.283185307179586);
#else
    case ANGLE: return x[TURN];
#endif
#ifdef BODY_AXES
    case PVX: return (x[VX] - x[SPIN] * ay) * cos(x[TURN]) + (x[VY] + x[SPIN] * ax) * sin(x[TURN]);
    case PVY: return (x[VY] + x[SPIN] * ax) * cos(x[TURN]) - (x[VX] - x[SPIN] * ay) * sin(x[TURN]);
#else
    case PVX: return x[VX] - x[SPIN] * ay;
    case PVY: return x[VY] + x[SPIN] * ax;
#endif
    case OMEGA: return x[SPIN];
    case KINETIC: return 0.5 * b->u[MASS] * (x[VX] * x[VX] + x[VY] * x[VY]) + 0.5 * b->u[INERTIA] * x[SPIN] * x[SPIN];
    case POTENTIAL: return b->u[MASS] * b->u[GRAVITY] * x[Y];
  }
  return r < STATES ? x[r] : b->u[r];
}

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
int fmi2SetDebugLogging(Component c, int on, size_t n, const char *const k[]) { return 0; }

static void begin(Body *b) {
  memset(b, 0, sizeof *b);
  b->u[MASS] = 1.3; b->u[INERTIA] = 0.21; b->u[GRAVITY] = 9.81; b->u[FLOOR] = -1e9; b->u[GEAR] = b->u[ON] = 1;
}

Component fmi2Instantiate(const char *n, int t, const char *g, const char *r, const void *f, int v, int l) {
#ifdef UNLICENSED
  typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
  (*(const Logger *)f)(0, n, 3, "logStatusError", "no licence was found on the server");
  return 0;
#endif
  Body *b = malloc(sizeof(Body));
  begin(b);
  return b;
}
void fmi2FreeInstance(Component c) { free(c); }
int fmi2SetupExperiment(Component c, int td, double t, double s, int sd, double e) { ((Body *)c)->time = s; return 0; }
int fmi2EnterInitializationMode(Component c) { return 0; }
int fmi2ExitInitializationMode(Component c) {
  memcpy(((Body *)c)->old, ((Body *)c)->u + TOLD + 6, sizeof ((Body *)c)->old);
  return 0;
}
int fmi2Terminate(Component c) { return 0; }
int fmi2Reset(Component c) {
#ifdef NO_RESET
  double x = ((Body *)c)->x[VX] * 1e-3;
  begin(c);
  ((Body *)c)->x[X] = x + 1e-3;
  return 0;
#endif
  begin(c);
  return 0;
}
int fmi2GetReal(Component c, const Ref r[], size_t n, double v[]) {
  for (size_t k = 0; k < n; k++) v[k] = shown(c, r[k]);
  return 0;
}
int fmi2SetReal(Component c, const Ref r[], size_t n, const double v[]) {
  for (size_t k = 0; k < n; k++) if (r[k] < STATES) ((Body *)c)->x[r[k]] = v[k]; else ((Body *)c)->u[r[k]] = v[k];
  return 0;
}
int fmi2GetInteger(Component c, const Ref r[], size_t n, int v[]) {
  for (size_t k = 0; k < n; k++) {
    if (r[k] != GEAR && r[k] != TURNS) return 3;
    v[k] = r[k] == GEAR ? ((Body *)c)->u[GEAR] : floor(((Body *)c)->x[TURN]);
  }
  return 0;
}
int fmi2SetInteger(Component c, const Ref r[], size_t n, const int v[]) {
  for (size_t k = 0; k < n; k++) if (r[k] != GEAR) return 3; else ((Body *)c)->u[GEAR] = v[k];
  return 0;
}
int fmi2GetBoolean(Component c, const Ref r[], size_t n, int v[]) {
  for (size_t k = 0; k < n; k++) {
    if (r[k] != ON && r[k] != FAST) return 3;
    v[k] = r[k] == ON ? ((Body *)c)->u[ON] : ((Body *)c)->x[SPIN] > 1;
  }
  return 0;
}
int fmi2SetBoolean(Component c, const Ref r[], size_t n, const int v[]) {
  for (size_t k = 0; k < n; k++) if (r[k] != ON) return 3; else ((Body *)c)->u[ON] = v[k];
  return 0;
}
int fmi2GetString(Component c, const Ref r[], size_t n, const char *v[]) { return 3; }
int fmi2SetString(Component c, const Ref r[], size_t n, const char *const v[]) { return 3; }

int fmi2GetFMUstate(Component c, Component *s) {
  if (!*s) *s = malloc(sizeof(Body));
  memcpy(*s, c, sizeof(Body));
  return 0;
}
int fmi2SetFMUstate(Component c, Component s) { memcpy(c, s, sizeof(Body)); return 0; }
int fmi2FreeFMUstate(Component c, Component *s) { free(*s); *s = 0; return 0; }
int fmi2SerializedFMUstateSize(Component c, Component s, size_t *n) { *n = sizeof(Body); return 0; }
int fmi2SerializeFMUstate(Component c, Component s, char d[], size_t n) { memcpy(d, s, n); return 0; }
int fmi2DeSerializeFMUstate(Component c, const char d[], size_t n, Component *s) {
  if (!*s) *s = malloc(sizeof(Body));
  memcpy(*s, d, n);
  return 0;
}
int fmi2GetDirectionalDerivative(Component c, const Ref a[], size_t n, const Ref b[], size_t m, const double x[], double y[]) { return 3; }

int fmi2DoStep(Component c, double t, double h, int no) {
  Body *b = c;
  double k[4][STATES], y[STATES];
#ifdef CRASHES
  if (t > 0.0105) *(volatile int *)0 = 1;
#endif
#ifdef HANGS
  if (t > 0.0105) for (;;) sleep(1);
#endif
#ifdef FAILS
  if (t > 0.0105) return 3;
#endif
#ifdef LED_PLACE
  double *a = b->u + TOLD + 6, w = b->x[SPIN], turn = b->x[TURN], f[4], v[4];
  for (int s = 0; s < 4; s++) {
    double part = s == 0 ? 0 : s == 3 ? 1 : 0.5;
    v[s] = w + (s ? part * h * f[s - 1] : 0);
    f[s] = turning(b, turn + (s ? part * h * v[s - 1] : 0), b->old[0] + part * (a[0] - b->old[0]), b->old[1] + part * (a[1] - b->old[1]));
  }
  b->x[TURN] += h / 6 * (v[0] + 2 * v[1] + 2 * v[2] + v[3]);
  b->x[SPIN] += h / 6 * (f[0] + 2 * f[1] + 2 * f[2] + f[3]);
  b->old[0] = a[0]; b->old[1] = a[1]; b->time = t + h;
  return 0;
#endif
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < STATES; i++) y[i] = b->x[i] + (s == 0 ? 0 : s == 3 ? h : 0.5 * h) * (s ? k[s - 1][i] : 0);
    slopes(b, y, k[s]);
  }
  for (int i = 0; i < STATES; i++) b->x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  b->time = t + h;
  return 0;
}
int fmi2CancelStep(Component c) { return 3; }
int fmi2SetRealInputDerivatives(Component c, const Ref r[], size_t n, const int o[], const double v[]) { return 3; }
int fmi2GetRealOutputDerivatives(Component c, const Ref r[], size_t n, const int o[], double v[]) { return 3; }
int fmi2GetStatus(Component c, int k, int *v) { return 2; }
int fmi2GetRealStatus(Component c, int k, double *v) { return 2; }
int fmi2GetIntegerStatus(Component c, int k, int *v) { return 2; }
int fmi2GetBooleanStatus(Component c, int k, int *v) { return 2; }
int fmi2GetStringStatus(Component c, int k, const char **v) { return 2; }

/* model exchange: with EVENTS it bounces off a floor */
typedef struct { int more, end, nominals, values, defined; double next; } EventInfo;
int fmi2EnterEventMode(Component c) { return 0; }
int fmi2NewDiscreteStates(Component c, EventInfo *e) {
  memset(e, 0, sizeof *e);
#ifdef EVENTS
  Body *b = c;
  if (b->x[Y] <= b->u[FLOOR] && b->x[VY] < 0) { b->x[VY] = -b->x[VY]; e->values = 1; }
#endif
  return 0;
}
int fmi2EnterContinuousTimeMode(Component c) { return 0; }
int fmi2CompletedIntegratorStep(Component c, int no, int *event, int *end) { *event = *end = 0; return 0; }
int fmi2SetTime(Component c, double t) { ((Body *)c)->time = t; return 0; }
int fmi2SetContinuousStates(Component c, const double x[], size_t n) { memcpy(((Body *)c)->x, x, n * sizeof *x); return 0; }
int fmi2GetDerivatives(Component c, double d[], size_t n) { slopes(c, ((Body *)c)->x, d); return 0; }
int fmi2GetEventIndicators(Component c, double e[], size_t n) {
  Body *b = c;
  if (n) e[0] = b->x[Y] - b->u[FLOOR];
  return 0;
}
int fmi2GetContinuousStates(Component c, double x[], size_t n) { memcpy(x, ((Body *)c)->x, n * sizeof *x); return 0; }
int fmi2GetNominalsOfContinuousStates(Component c, double x[], size_t n) { for (size_t k = 0; k < n; k++) x[k] = NOMINAL; return 0; }

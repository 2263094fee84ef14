/* Arrays of FMI 3, as somebody else's FMU: x' = A u of three numbers, exact while u is held; what it is warmed to is what is told, and
   by how much more than at 0 degrees Celsius. */
#include <stdlib.h>
#include <string.h>

typedef void *Component;
typedef unsigned int Ref;
typedef struct { double time, u[3], x[3], A[9], air; short gear; _Bool open; unsigned long steps; } Model;

const char *fmi3GetVersion(void) { return "3.0"; }

static void start(Model *m) {
  memset(m, 0, sizeof *m);
  for (int k = 0; k < 3; k++) m->u[k] = k + 1, m->A[4 * k] = 1;
  m->air = 20;
  m->gear = m->open = 1;
}

Component fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, _Bool visible, _Bool logs, _Bool events,
                                      _Bool early, const Ref *between, size_t n, void *environment, void *log, void *update) {
  Model *m = malloc(sizeof *m);
  start(m);
  return m;
}
void fmi3FreeInstance(Component c) { free(c); }
int fmi3EnterInitializationMode(Component c, _Bool a, double b, double time, _Bool d, double e) { ((Model *)c)->time = time; return 0; }
int fmi3ExitInitializationMode(Component c) { return 0; }
int fmi3Terminate(Component c) { return 0; }
int fmi3Reset(Component c) { start(c); return 0; }

static double *place(Model *m, Ref r, size_t *n) {
  switch (r) {
    case 0: *n = 1; return &m->time;
    case 2: case 8: *n = 3; return m->u;
    case 3: *n = 3; return m->x;
    case 4: *n = 9; return m->A;
    case 5: case 6: case 7: *n = 1; return &m->air;
  }
  return NULL;
}

int fmi3GetFloat64(Component c, const Ref *r, size_t n, double *x, size_t m) {
  size_t at = 0, size;
  for (size_t k = 0; k < n; k++, at += size) {
    double *p = place(c, r[k], &size);
    if (!p || at + size > m) return 3;
    memcpy(x + at, p, size * sizeof *x);
  }
  return at == m ? 0 : 3;
}
int fmi3SetFloat64(Component c, const Ref *r, size_t n, const double *x, size_t m) {
  size_t at = 0, size;
  for (size_t k = 0; k < n; k++, at += size) {
    double *p = place(c, r[k], &size);
    if (!p || at + size > m || r[k] == 0 || r[k] == 3 || r[k] > 5) return 3;
    memcpy(p, x + at, size * sizeof *x);
  }
  return at == m ? 0 : 3;
}

int fmi3GetInt16(Component c, const Ref *r, size_t n, short *x, size_t m) { *x = ((Model *)c)->gear; return n != 1 || *r != 9; }
int fmi3SetInt16(Component c, const Ref *r, size_t n, const short *x, size_t m) {
  ((Model *)c)->gear = *x;
  return n == 1 && *r == 9 && *x >= 0 ? 0 : 3; /* it has no gear backwards */
}
int fmi3GetUInt64(Component c, const Ref *r, size_t n, unsigned long *x, size_t m) { *x = ((Model *)c)->steps; return n != 1 || *r != 11; }
int fmi3GetBoolean(Component c, const Ref *r, size_t n, _Bool *x, size_t m) {
  for (size_t k = 0; k < n; k++) x[k] = r[k] == 10 ? ((Model *)c)->open : ((Model *)c)->u[0] * ((Model *)c)->gear > 0;
  return 0;
}
int fmi3SetBoolean(Component c, const Ref *r, size_t n, const _Bool *x, size_t m) { ((Model *)c)->open = *x; return n == 1 && *r == 10 ? 0 : 3; }

int fmi3DoStep(Component c, double t, double h, _Bool a, _Bool *event, _Bool *end, _Bool *early, double *last) {
  Model *m = c;
  *event = *end = *early = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m->x[i] += h * m->A[3 * i + j] * m->u[j] * m->gear * m->open;
  m->steps++;
  m->time = *last = t + h;
  return 0;
}

/* What nobody calls, and has to be there. */
#define NO(name) int fmi3##name(void) { return 3; }
NO(ActivateModelPartition) NO(CompletedIntegratorStep) NO(DeserializeFMUState) NO(EnterConfigurationMode)
NO(EnterContinuousTimeMode) NO(EnterEventMode) NO(EnterStepMode) NO(EvaluateDiscreteStates) NO(ExitConfigurationMode)
NO(FreeFMUState) NO(GetAdjointDerivative) NO(GetBinary) NO(GetClock) NO(GetContinuousStateDerivatives)
NO(GetContinuousStates) NO(GetDirectionalDerivative) NO(GetEventIndicators) NO(GetFMUState) NO(GetFloat32) 
NO(GetInt32) NO(GetInt64) NO(GetInt8) NO(GetIntervalDecimal) NO(GetIntervalFraction) NO(GetNominalsOfContinuousStates)
NO(GetNumberOfContinuousStates) NO(GetNumberOfEventIndicators) NO(GetNumberOfVariableDependencies) NO(GetOutputDerivatives)
NO(GetShiftDecimal) NO(GetShiftFraction) NO(GetString) NO(GetUInt16) NO(GetUInt32) NO(GetUInt8)
NO(GetVariableDependencies) NO(InstantiateModelExchange) NO(InstantiateScheduledExecution) NO(SerializeFMUState)
NO(SerializedFMUStateSize) NO(SetBinary) NO(SetClock) NO(SetContinuousStates) NO(SetDebugLogging)
NO(SetFMUState) NO(SetFloat32) NO(SetInt32) NO(SetInt64) NO(SetInt8) NO(SetIntervalDecimal)
NO(SetIntervalFraction) NO(SetShiftDecimal) NO(SetShiftFraction) NO(SetString) NO(SetTime) NO(SetUInt16) NO(SetUInt32)
NO(SetUInt64) NO(SetUInt8) NO(UpdateDiscreteStates)

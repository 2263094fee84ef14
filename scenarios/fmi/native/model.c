/* Moves a model by its formulas, in the same operations and the same order as coordinator/equations/runge_kutta.py: the method of
   Dormand and Prince of order eight, with the tick as its step. What is written above this is of one model; below come the
   functions of one version of FMI. Nothing is kept beside an instance, so there may be many, in as many threads. */

enum { OK, WARNING, DISCARD, ERROR };
#define FAR 1e-6 /* m, rad, m/s and rad/s: how far a port may be told from where it begins */
#define OFF 1e-6 /* of a tick: how far a communication point may be from where the model stands */

typedef struct { /* numbers alone: as bytes it goes to another process */
    double time, origin, count; /* [s]; ticks are counted from the origin, so that no time adds up rounding */
    double lapse;               /* [s] since forces were told */
    double stale;               /* not 0: accelerations are not yet those under what is told */
    double begun;               /* not 0: initialised */
    double q[COORDINATES + 1], v[COORDINATES + 1], a[COORDINATES + 1];
    double acted[LOADS + 1]; /* under which a was found */
    double told[OUTPUTS_AT + 1], p[PARAMETERS + 1], angles[ANGLES + 1];
} State;

typedef struct {
    State s;
    double values[VARIABLES + 1];
    int shown;
    double asked_start; /* [s] */
    char *name;
    void *environment, *log;
    int logs;
    char said[640];
} Instance;

static void tell(Instance *one, int status); /* to the log of the master: what was said */

static void start_of_led(State *s)
{
    for (int n = 0; n < MOVED; n++) {
        const int turns = LED[n].turns, count = 2 * DIMENSION + turns + (turns ? 2 * DIMENSION - 3 : 0);
        memcpy(s->told + LED[n].input, LED_START + LED[n].start, (size_t)count * sizeof(double));
    }
}

static void begin(Instance *one)
{
    State *s = &one->s;
    memset(s, 0, sizeof *s);
    memcpy(s->q, START_Q, sizeof START_Q);
    memcpy(s->v, START_V, sizeof START_V);
    memcpy(s->p, START_P, sizeof START_P);
    start_of_led(s);
    s->stale = 1.0;
    one->shown = 0;
    one->asked_start = 0.0;
    one->said[0] = 0;
}

static Instance *new_instance(const char *name, void *environment, void *log, int logs)
{
    Instance *one = calloc(1, sizeof *one);
    if (!one) return NULL;
    if (!name) name = "";
    one->name = malloc(strlen(name) + 1);
    if (!one->name) {
        free(one);
        return NULL;
    }
    strcpy(one->name, name);
    one->environment = environment;
    one->log = log;
    one->logs = logs;
    begin(one);
    return one;
}

static void free_instance(Instance *one)
{
    if (one) free(one->name);
    free(one);
}

/* Forces and moments so long after they were told. */
static void load(State *s, double lapse)
{
    for (int k = 0; k < LOADS; k++) s->p[LOAD[k].parameter] = s->told[LOAD[k].value] + lapse * s->told[LOAD[k].rate];
}

static void keep_loads(State *s)
{
    for (int k = 0; k < LOADS; k++) s->acted[k] = s->p[LOAD[k].parameter];
}

/* The product of two quaternions. */
static void product(const double *a, const double *b, double *found)
{
    found[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    found[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    found[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    found[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

enum { WAYS = 7 }; /* numbers that tell where a port is */

/* How one is told to move: numbers of its place and its turning, their rates and the rates of these; whether it is a motion. */
static int motion_told(const double *told, int turns, double way[3][WAYS])
{
    const int d = DIMENSION, spin = turns ? 2 * d - 3 : 0;
    const double *w = told + 2 * d + turns, *b = told + 3 * d + turns + spin;
    for (int i = 0; i < d; i++) way[0][i] = told[i], way[1][i] = told[d + turns + i], way[2][i] = told[2 * d + turns + spin + i];
    if (turns == 1) way[0][d] = told[d], way[1][d] = w[0], way[2][d] = b[0];
    if (turns == 4) { /* p' = w p / 2 */
        const double rate[4] = {0.0, w[0], w[spin - 2], w[spin - 1]}, bend[4] = {0.0, b[0], b[spin - 2], b[spin - 1]};
        double norm = 0.0, first[4], second[4];
        for (int k = 0; k < 4; k++) norm += told[d + k] * told[d + k];
        if (!(norm > 1e-18)) return 0;
        for (int k = 0; k < 4; k++) way[0][d + k] = told[d + k] / sqrt(norm);
        product(rate, way[0] + d, first);
        for (int k = 0; k < 4; k++) way[1][d + k] = 0.5 * first[k];
        product(bend, way[0] + d, first);
        product(rate, way[1] + d, second);
        for (int k = 0; k < 4; k++) way[2][d + k] = 0.5 * (first[k] + second[k]);
    }
    return 1;
}

/* Ports that are moved go, from where they stand, along the cubic in time that ends as they are told; or stand there at once. */
static int lead(Instance *one, double from, double end, int stand)
{
    State *s = &one->s;
    for (int n = 0; n < MOVED; n++) {
        const int *course = COURSE + LED[n].course, turns = LED[n].turns, d = DIMENSION;
        const double begun = turns == 1 ? LED_START[LED[n].start + d] : 0.0, h = from - end;
        double *q = s->q + LED[n].coordinate, *v = s->v + LED[n].coordinate, way[3][WAYS], along = 0.0;
        if (!motion_told(s->told + LED[n].input, turns, way)) {
            snprintf(one->said, sizeof one->said, "port '%.200s' is told a quaternion of no length; give a rotation.", LED_NAME[n]);
            return 1;
        }
        for (int k = d; turns == 4 && k < d + 4; k++) along += q[k] * way[0][k];
        for (int i = 0; i < d + turns; i++) {
            const int *c = course + 1 + 4 * i + (i >= d), turned = i >= d;
            const double sign = turned && along < 0.0 ? -1.0 : 1.0, off = turned ? begun : 0.0;
            const double x = sign * way[0][i], u = sign * way[1][i], a = sign * way[2][i];
            s->p[c[0]] = x;
            s->p[c[1]] = u;
            s->p[c[2]] = 0.5 * a;
            s->p[c[3]] = h != 0.0 ? (q[i] + off - (x + u * h + 0.5 * a * h * h)) / (h * h * h) : 0.0;
            if (stand) q[i] = x - off, v[i] = u;
        }
        s->p[course[0]] = end;
        if (turns) s->p[course[1 + 4 * d]] = end;
        s->stale = 1.0;
    }
    return 0;
}

/* The rates of all fit a course that begins otherwise than the last one ended. */
static void start_along(State *s)
{
    double paced[COORDINATES + 1];
    if (!MOVED) return;
    pace(s->time, s->q, s->v, s->p, paced);
    for (int i = 0; i < COORDINATES; i++) s->v[i] += paced[i];
}

/* Accelerations where it stands, under what it has been told. */
static void settle(State *s)
{
    double found[RATES + 1];
    int same = s->stale == 0.0;
    load(s, s->lapse);
    for (int k = 0; k < LOADS; k++) same = same && s->acted[k] == s->p[LOAD[k].parameter];
    if (same) return;
    rates(s->time, s->q, s->v, s->p, found);
    memcpy(s->a, found, COORDINATES * sizeof(double));
    keep_loads(s);
    s->stale = 0.0;
}

/* Whether the end of a step is not one, and why. */
static int trouble(Instance *one, double time, const double *guards, const double *errors)
{
    const State *s = &one->s;
    double largest = 1.0;
    const char *owner = NULL;
    for (int i = 0; i < COORDINATES; i++) {
        if (!(isfinite(s->q[i]) && isfinite(s->v[i]) && isfinite(s->a[i]))) {
            snprintf(one->said, sizeof one->said, "at %.9g s: its numbers are not finite; take shorter steps.", time);
            return 1;
        }
        if (fabs(s->a[i]) > largest) largest = fabs(s->a[i]);
    }
    for (int k = 0; k < PIVOTS && !owner; k++)
        if (!(fabs(guards[k]) > LOST_PIVOT * PIVOT[k])) owner = OWNER[k];
    for (int k = PIVOTS; k < GUARDS && !owner; k++)
        if (!(fabs(guards[k]) <= LOOSE * largest)) owner = OWNER[k];
    if (owner) {
        snprintf(one->said, sizeof one->said,
                 "at %.9g s: rows of '%.200s' depend on others in another way than before; take shorter steps, or export the model "
                 "without --native.", time, owner);
        return 1;
    }
    for (int k = 0; k < ROWS; k++)
        if (fabs(errors[k]) > OPEN * EXTENT) {
            snprintf(one->said, sizeof one->said, "at %.9g s: '%.200s' is open by %.2g after the step; take shorter steps.", time,
                     ROW_OWNER[k], fabs(errors[k]));
            return 1;
        }
    return 0;
}

/* Angles of forces about hinges go on in the next step from where they are, over any number of turns. */
static void keep_turns(State *s, double t)
{
    double found[SHOWN + 1];
    if (TURNED == 0) return;
    shows(t, s->q, s->v, s->p, s->a, found);
    for (int k = 0; k < TURNED; k++) s->p[TURNED_TO[k].parameter] = found[TURNED_TO[k].place];
}

/* One step, as `step_loop` takes it. */
static int advance(Instance *one, double t, double h)
{
    State *s = &one->s;
    double kq[STAGES][COORDINATES + 1], kv[STAGES][COORDINATES + 1], x[COORDINATES + 1], u[COORDINATES + 1];
    double found[RATES + 1], moved[COORDINATES + ROWS + 1], paced[COORDINATES + 1];
    settle(s);
    memcpy(kq[0], s->v, COORDINATES * sizeof(double));
    memcpy(kv[0], s->a, COORDINATES * sizeof(double));
    for (int stage = 1; stage <= STAGES; stage++) {
        for (int i = 0; i < COORDINATES; i++) {
            double dq = 0.0 * s->q[i], dv = 0.0 * s->q[i];
            for (int j = 0; j < stage; j++) {
                const double weight = WEIGHTS[stage][j];
                if (weight != 0.0) {
                    dq += weight * kq[j][i];
                    dv += weight * kv[j][i];
                }
            }
            x[i] = s->q[i] + h * dq;
            u[i] = s->v[i] + h * dv;
        }
        load(s, s->lapse + TIMES[stage] * h);
        if (stage == STAGES) {
            for (int n = 0; n < CORRECTIONS; n++) {
                place(t + h, x, u, s->p, moved);
                for (int i = 0; i < COORDINATES; i++) x[i] = x[i] + moved[i];
            }
            pace(t + h, x, u, s->p, paced);
            for (int i = 0; i < COORDINATES; i++) u[i] = u[i] + paced[i];
        }
        rates(t + TIMES[stage] * h, x, u, s->p, found);
        if (stage < STAGES) {
            memcpy(kq[stage], u, COORDINATES * sizeof(double));
            memcpy(kv[stage], found, COORDINATES * sizeof(double));
        }
    }
    memcpy(s->q, x, COORDINATES * sizeof(double));
    memcpy(s->v, u, COORDINATES * sizeof(double));
    memcpy(s->a, found, COORDINATES * sizeof(double));
    keep_loads(s);
    keep_turns(s, t + h);
    s->lapse += h;
    return trouble(one, t + h, found + COORDINATES, moved + COORDINATES);
}

/* The unit quaternion (w, x, y, z) of axes, one after the other: by the largest of its numbers. */
static void quaternion(const double *axes, double *found)
{
    double m[3][3], q[4], norm = 0.0;
    int choice = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) m[i][j] = axes[3 * j + i];
    const double trace = m[0][0] + m[1][1] + m[2][2], of[4] = {m[0][0], m[1][1], m[2][2], trace};
    for (int k = 1; k < 4; k++)
        if (of[k] > of[choice]) choice = k;
    if (choice < 3) {
        const int i = choice, j = (i + 1) % 3, k = (j + 1) % 3;
        q[i] = 1.0 - trace + 2.0 * m[i][i];
        q[j] = m[j][i] + m[i][j];
        q[k] = m[k][i] + m[i][k];
        q[3] = m[k][j] - m[j][k];
    } else {
        q[0] = m[2][1] - m[1][2];
        q[1] = m[0][2] - m[2][0];
        q[2] = m[1][0] - m[0][1];
        q[3] = 1.0 + trace;
    }
    for (int k = 0; k < 4; k++) norm += q[k] * q[k];
    norm = sqrt(norm);
    found[0] = q[3] / norm;
    for (int k = 0; k < 3; k++) found[1 + k] = q[k] / norm;
}

/* Outputs where it stands; angles go on over any number of turns, as long as none is more than half a turn from the one before. */
static void show(Instance *one)
{
    State *s = &one->s;
    double found[SHOWN + 1];
    if (s->begun == 0.0) lead(one, s->time, s->time, 1);
    settle(s);
    shows(s->time, s->q, s->v, s->p, s->a, found);
    for (int k = 0; k < ANGLES; k++) {
        double *angle = &found[ANGLE[k]];
        s->angles[k] += remainder(*angle - s->angles[k], 2.0 * PI);
        *angle = s->angles[k];
    }
    for (int k = 0; k < TURNS; k++) quaternion(&found[TURN[k].axes], &found[TURN[k].quaternion]);
    memcpy(&one->values[OUTPUTS_AT], found, OUTPUTS * sizeof(double));
    one->shown = 1;
}

static int step(Instance *one, double t, double h)
{
    State *s = &one->s;
    const State before = *s;
    if (s->begun == 0.0) {
        snprintf(one->said, sizeof one->said, "this FMU has not been initialised yet.");
        tell(one, ERROR);
        return ERROR;
    }
    if (!(fabs(t - s->time) <= OFF * TICK)) {
        snprintf(one->said, sizeof one->said, "a step from %.9g s; this FMU stands at %.9g s.", t, s->time);
        tell(one, ERROR);
        return ERROR;
    }
    if (!(h > 0.0) || !isfinite(h)) {
        snprintf(one->said, sizeof one->said, "a step of %.9g s; steps go forward.", h);
        tell(one, ERROR);
        return ERROR;
    }
    const double ticks = rint(h / TICK);
    const int whole = ticks >= 1.0 && fabs(ticks * TICK - h) <= OFF * TICK;
    const double parts = whole ? ticks : ceil(h / TICK - OFF), part = whole ? TICK : h / parts;
    s->lapse = 0.0;
    if (lead(one, s->time, whole ? s->origin + (s->count + ticks) * TICK : s->time + h, 0)) {
        *s = before;
        tell(one, ERROR);
        return ERROR;
    }
    start_along(s);
    for (double k = 0.0; k < parts; k++) {
        if (advance(one, s->time, part)) {
            *s = before;
            one->shown = 0;
            tell(one, DISCARD);
            return DISCARD;
        }
        if (whole) {
            s->count += 1.0;
            s->time = s->origin + s->count * TICK;
        } else
            s->time += part;
        if (ANGLES) show(one);
    }
    if (!whole) {
        s->time = s->origin = before.time + h;
        s->count = 0.0;
    }
    one->shown = 0;
    return OK;
}

static int get(Instance *one, const unsigned *references, size_t n, double *found)
{
    for (size_t k = 0; k < n; k++) {
        const unsigned r = references[k];
        if (r >= VARIABLES) {
            snprintf(one->said, sizeof one->said, "there is no variable %u; they end at %d.", r, VARIABLES - 1);
            tell(one, ERROR);
            return ERROR;
        }
        if (r == 0)
            found[k] = one->s.time;
        else if (r < OUTPUTS_AT)
            found[k] = one->s.told[r];
        else if (r >= PARAMETERS_AT)
            found[k] = one->s.p[GIVEN[r - PARAMETERS_AT].parameter];
        else {
            if (!one->shown) show(one);
            found[k] = one->values[r];
        }
    }
    return OK;
}

static int set(Instance *one, const unsigned *references, size_t n, const double *values)
{
    State *s = &one->s;
    int jumped = 0;
    for (size_t k = 0; k < n; k++) {
        const unsigned r = references[k];
        const int parameter = r >= PARAMETERS_AT && r < VARIABLES, input = r > 0 && r < OUTPUTS_AT;
        if (!(parameter || input) || !isfinite(values[k]) || (parameter && GIVEN[r - PARAMETERS_AT].positive && !(values[k] > 0.0))) {
            if (parameter || input)
                snprintf(one->said, sizeof one->said, "variable %u is told %g; give a finite%s number.", r, values[k],
                         parameter && GIVEN[r - PARAMETERS_AT].positive ? ", positive" : "");
            else
                snprintf(one->said, sizeof one->said, "variable %u is neither an input nor a parameter, and cannot be set.", r);
            tell(one, ERROR);
            return ERROR;
        }
        if (parameter)
            s->p[GIVEN[r - PARAMETERS_AT].parameter] = values[k], s->stale = 1.0;
        else if (r != SETTLE)
            s->told[r] = values[k], s->lapse = 0.0;
        else
            jumped = values[k] != 0.0;
    }
    one->shown = 0;
    if (jumped && s->begun != 0.0 && lead(one, s->time, s->time, 1)) {
        tell(one, ERROR);
        return ERROR;
    }
    return OK;
}

/* All variables are numbers: who asks for none of another kind gets none. */
static int other_kind(Instance *one, const unsigned *references, size_t n, const char *kind)
{
    if (!n) return OK;
    snprintf(one->said, sizeof one->said, "variable %u is a number (Float64; Real in FMI 2) and is not of type %s; get and set it as one.",
             references ? references[0] : 0u, kind);
    tell(one, ERROR);
    return ERROR;
}

static int start(Instance *one)
{
    if (one->asked_start != 0.0) {
        snprintf(one->said, sizeof one->said, "it begins at 0 s, and not at %g s.", one->asked_start);
        tell(one, ERROR);
        return ERROR;
    }
    for (int n = 0; n < MOVED; n++) {
        const int turns = LED[n].turns, count = 2 * DIMENSION + turns + (turns ? 2 * DIMENSION - 3 : 0);
        const double *told = one->s.told + LED[n].input, *there = LED_START + LED[n].start;
        double sign = 0.0;
        for (int k = DIMENSION; turns == 4 && k < DIMENSION + 4; k++) sign += told[k] * there[k];
        for (int i = 0; i < count; i++) {
            const int turned = turns == 4 && i >= DIMENSION && i < DIMENSION + 4;
            if (fabs((turned && sign < 0.0 ? -told[i] : told[i]) - there[i]) <= FAR) continue;
            snprintf(one->said, sizeof one->said, "port '%.200s' is told to begin where number %d of its place, orientation and "
                     "velocities is %.9g, and the model begins at %.9g; tell it that motion while it is initialised.", LED_NAME[n],
                     i + 1, told[i], there[i]);
            tell(one, ERROR);
            return ERROR;
        }
    }
    if (lead(one, 0.0, 0.0, 1)) {
        tell(one, ERROR);
        return ERROR;
    }
    one->s.begun = 1.0;
    show(one);
    return OK;
}

/* As bytes: what it is of, then its numbers. */
enum { WRITTEN = sizeof TOKEN + sizeof(State) };

static int write_state(const State *state, char *bytes, size_t size)
{
    if (size < WRITTEN) return ERROR;
    memcpy(bytes, TOKEN, sizeof TOKEN);
    memcpy(bytes + sizeof TOKEN, state, sizeof *state);
    return OK;
}

static int size_of_state(size_t *size)
{
    *size = WRITTEN;
    return OK;
}

static int read_state(Instance *one, const char *bytes, size_t size, State **found)
{
    if (size != WRITTEN || memcmp(bytes, TOKEN, sizeof TOKEN)) {
        snprintf(one->said, sizeof one->said, "these %lu bytes are not a state of this FMU.", (unsigned long)size);
        tell(one, ERROR);
        return ERROR;
    }
    if (!(*found = malloc(sizeof **found))) return ERROR;
    memcpy(*found, bytes + sizeof TOKEN, sizeof **found);
    return OK;
}

static int take_state(Instance *one, State **kept)
{
    if (!*kept && !(*kept = malloc(sizeof **kept))) return ERROR;
    **kept = one->s;
    return OK;
}

static int free_state(State **kept)
{
    free(*kept);
    *kept = NULL;
    return OK;
}

static int give_state(Instance *one, const State *kept)
{
    if (!kept) return ERROR;
    one->s = *kept;
    one->shown = 0;
    return OK;
}

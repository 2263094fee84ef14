/* The functions of FMI 3. */

static void tell(Instance *one, int status)
{
    if (one->log)
        ((fmi3LogMessageCallback)one->log)(one->environment, (fmi3Status)status,
                                           status == DISCARD ? "logStatusDiscard" : "logStatusError", one->said);
}

typedef fmi3Instance I;
typedef const fmi3ValueReference *R;
#define AS(one) ((Instance *)(one))

const char *fmi3GetVersion(void) { return fmi3Version; }

fmi3Status fmi3SetDebugLogging(I c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    (void)n, (void)categories;
    AS(c)->logs = on;
    return fmi3OK;
}

static I made(fmi3String name, fmi3String token, fmi3Boolean logs, void *environment, fmi3LogMessageCallback log, const char *wrong)
{
    Instance *one = new_instance(name, environment, (void *)log, logs);
    if (!one) return NULL;
    if (!wrong && (!token || strcmp(token, TOKEN))) wrong = "the instantiation token is not the one with which this FMU was made.";
    if (!wrong) return one;
    snprintf(one->said, sizeof one->said, "%s", wrong);
    tell(one, ERROR);
    free_instance(one);
    return NULL;
}

I fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logs,
                              fmi3Boolean events, fmi3Boolean early, R between, size_t n, fmi3InstanceEnvironment environment,
                              fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)resources, (void)visible, (void)early, (void)between, (void)update;
    return made(name, token, logs, environment, log,
                events ? "this FMU has no event mode." : n ? "this FMU shows nothing within a step." : NULL);
}
I fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logs,
                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)resources, (void)visible;
    return made(name, token, logs, environment, log, "this FMU offers co-simulation.");
}
I fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logs,
                                    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
                                    fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)resources, (void)visible, (void)update, (void)lock, (void)unlock;
    return made(name, token, logs, environment, log, "this FMU offers co-simulation.");
}
void fmi3FreeInstance(I c) { free_instance(c); }

fmi3Status fmi3EnterInitializationMode(I c, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 begins, fmi3Boolean ends,
                                       fmi3Float64 end)
{
    (void)has_tolerance, (void)tolerance, (void)ends, (void)end;
    AS(c)->asked_start = begins;
    return fmi3OK;
}
fmi3Status fmi3ExitInitializationMode(I c) { return (fmi3Status)start(c); }
fmi3Status fmi3Terminate(I c) { (void)c; return fmi3OK; }
fmi3Status fmi3Reset(I c) { begin(c); return fmi3OK; }

fmi3Status fmi3GetFloat64(I c, R r, size_t n, fmi3Float64 x[], size_t m)
{
    return n != m ? fmi3Error : (fmi3Status)get(c, r, n, x);
}
fmi3Status fmi3SetFloat64(I c, R r, size_t n, const fmi3Float64 x[], size_t m)
{
    return n != m ? fmi3Error : (fmi3Status)set(c, r, n, x);
}

/* There are no variables of other kinds, no clocks, no events, no derivatives: who asks for none gets none. */
#define NONE_OF(Kind)                                                                                  \
    fmi3Status fmi3Get##Kind(I c, R r, size_t n, fmi3##Kind x[], size_t m)                             \
    {                                                                                                  \
        (void)x;                                                                                       \
        return n ? (fmi3Status)other_kind(AS(c), r, n, #Kind) : m ? fmi3Error : fmi3OK;                \
    }                                                                                                  \
    fmi3Status fmi3Set##Kind(I c, R r, size_t n, const fmi3##Kind x[], size_t m)                       \
    {                                                                                                  \
        (void)x;                                                                                       \
        return n ? (fmi3Status)other_kind(AS(c), r, n, #Kind) : m ? fmi3Error : fmi3OK;                \
    }
NONE_OF(Float32)
NONE_OF(Int8)
NONE_OF(UInt8)
NONE_OF(Int16)
NONE_OF(UInt16)
NONE_OF(Int32)
NONE_OF(UInt32)
NONE_OF(Int64)
NONE_OF(UInt64)
NONE_OF(Boolean)
NONE_OF(String)

#define NO(name, ...)                                                                                  \
    fmi3Status fmi3##name(I c, __VA_ARGS__)
#define NOTHING                                                                                        \
    {                                                                                                  \
        (void)c;                                                                                       \
        return fmi3Error;                                                                              \
    }
NO(GetBinary, R r, size_t n, size_t sizes[], fmi3Binary x[], size_t m) { (void)r, (void)sizes, (void)x, (void)c; return n || m ? fmi3Error : fmi3OK; }
NO(SetBinary, R r, size_t n, const size_t sizes[], const fmi3Binary x[], size_t m) { (void)r, (void)sizes, (void)x, (void)c; return n || m ? fmi3Error : fmi3OK; }
NO(GetClock, R r, size_t n, fmi3Clock x[]) { (void)r, (void)x, (void)c; return n ? fmi3Error : fmi3OK; }
NO(SetClock, R r, size_t n, const fmi3Clock x[]) { (void)r, (void)x, (void)c; return n ? fmi3Error : fmi3OK; }
NO(GetNumberOfVariableDependencies, fmi3ValueReference r, size_t *n) { (void)r, (void)n; NOTHING }
NO(GetVariableDependencies, fmi3ValueReference r, size_t a[], fmi3ValueReference b[], size_t d[], fmi3DependencyKind e[], size_t n)
{
    (void)r, (void)a, (void)b, (void)d, (void)e, (void)n;
    NOTHING
}
NO(GetDirectionalDerivative, R of, size_t n, R by, size_t m, const fmi3Float64 seed[], size_t s, fmi3Float64 found[], size_t f)
{
    (void)of, (void)n, (void)by, (void)m, (void)seed, (void)s, (void)found, (void)f;
    NOTHING
}
NO(GetAdjointDerivative, R of, size_t n, R by, size_t m, const fmi3Float64 seed[], size_t s, fmi3Float64 found[], size_t f)
{
    (void)of, (void)n, (void)by, (void)m, (void)seed, (void)s, (void)found, (void)f;
    NOTHING
}
NO(GetIntervalDecimal, R r, size_t n, fmi3Float64 x[], fmi3IntervalQualifier q[]) { (void)r, (void)n, (void)x, (void)q; NOTHING }
NO(GetIntervalFraction, R r, size_t n, fmi3UInt64 x[], fmi3UInt64 y[], fmi3IntervalQualifier q[])
{
    (void)r, (void)n, (void)x, (void)y, (void)q;
    NOTHING
}
NO(GetShiftDecimal, R r, size_t n, fmi3Float64 x[]) { (void)r, (void)n, (void)x; NOTHING }
NO(GetShiftFraction, R r, size_t n, fmi3UInt64 x[], fmi3UInt64 y[]) { (void)r, (void)n, (void)x, (void)y; NOTHING }
NO(SetIntervalDecimal, R r, size_t n, const fmi3Float64 x[]) { (void)r, (void)n, (void)x; NOTHING }
NO(SetIntervalFraction, R r, size_t n, const fmi3UInt64 x[], const fmi3UInt64 y[]) { (void)r, (void)n, (void)x, (void)y; NOTHING }
NO(SetShiftDecimal, R r, size_t n, const fmi3Float64 x[]) { (void)r, (void)n, (void)x; NOTHING }
NO(SetShiftFraction, R r, size_t n, const fmi3UInt64 x[], const fmi3UInt64 y[]) { (void)r, (void)n, (void)x, (void)y; NOTHING }
NO(UpdateDiscreteStates, fmi3Boolean *a, fmi3Boolean *b, fmi3Boolean *d, fmi3Boolean *e, fmi3Boolean *f, fmi3Float64 *t)
{
    (void)a, (void)b, (void)d, (void)e, (void)f, (void)t;
    NOTHING
}
NO(CompletedIntegratorStep, fmi3Boolean a, fmi3Boolean *b, fmi3Boolean *d) { (void)a, (void)b, (void)d; NOTHING }
NO(SetTime, fmi3Float64 t) { (void)t; NOTHING }
NO(SetContinuousStates, const fmi3Float64 x[], size_t n) { (void)x, (void)n; NOTHING }
NO(GetContinuousStateDerivatives, fmi3Float64 x[], size_t n) { (void)x, (void)n; NOTHING }
NO(GetEventIndicators, fmi3Float64 x[], size_t n) { (void)x, (void)n; NOTHING }
NO(GetContinuousStates, fmi3Float64 x[], size_t n) { (void)x, (void)n; NOTHING }
NO(GetNominalsOfContinuousStates, fmi3Float64 x[], size_t n) { (void)x, (void)n; NOTHING }
NO(GetNumberOfEventIndicators, size_t *n) { (void)n; NOTHING }
NO(GetNumberOfContinuousStates, size_t *n) { (void)n; NOTHING }
NO(ActivateModelPartition, fmi3ValueReference r, fmi3Float64 t) { (void)r, (void)t; NOTHING }
fmi3Status fmi3EnterEventMode(I c) NOTHING
fmi3Status fmi3EnterStepMode(I c) NOTHING
fmi3Status fmi3EnterConfigurationMode(I c) NOTHING
fmi3Status fmi3ExitConfigurationMode(I c) NOTHING
fmi3Status fmi3EvaluateDiscreteStates(I c) NOTHING
fmi3Status fmi3EnterContinuousTimeMode(I c) NOTHING
NO(GetOutputDerivatives, R r, size_t n, const fmi3Int32 order[], fmi3Float64 x[], size_t m)
{
    (void)c, (void)r, (void)order, (void)x;
    return n || m ? fmi3Error : fmi3OK;
}

fmi3Status fmi3GetFMUState(I c, fmi3FMUState *kept) { return (fmi3Status)take_state(c, (State **)kept); }
fmi3Status fmi3SetFMUState(I c, fmi3FMUState kept) { return (fmi3Status)give_state(c, kept); }
fmi3Status fmi3FreeFMUState(I c, fmi3FMUState *kept)
{
    (void)c;
    return (fmi3Status)free_state((State **)kept);
}
fmi3Status fmi3SerializedFMUStateSize(I c, fmi3FMUState kept, size_t *size)
{
    (void)c, (void)kept;
    return (fmi3Status)size_of_state(size);
}
fmi3Status fmi3SerializeFMUState(I c, fmi3FMUState kept, fmi3Byte bytes[], size_t size)
{
    (void)c;
    return (fmi3Status)write_state(kept, (char *)bytes, size);
}
fmi3Status fmi3DeserializeFMUState(I c, const fmi3Byte bytes[], size_t size, fmi3FMUState *kept)
{
    return (fmi3Status)read_state(c, (const char *)bytes, size, (State **)kept);
}

fmi3Status fmi3DoStep(I c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_going_back, fmi3Boolean *event, fmi3Boolean *terminate,
                      fmi3Boolean *early, fmi3Float64 *last)
{
    (void)no_going_back;
    *event = *terminate = *early = fmi3False;
    const int status = step(c, t, h);
    *last = AS(c)->s.time;
    return (fmi3Status)status;
}

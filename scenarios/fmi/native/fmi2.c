/* The functions of FMI 2. */

static void tell(Instance *one, int status)
{
    char text[2 * sizeof one->said];
    size_t n = 0;
    if (!one->log) return;
    for (const char *c = one->said; *c; c++) { /* it is taken for a format */
        if (*c == '%') text[n++] = '%';
        text[n++] = *c;
    }
    text[n] = 0;
    ((fmi2CallbackLogger)one->log)(one->environment, one->name, (fmi2Status)status,
                                   status == DISCARD ? "logStatusDiscard" : "logStatusError", text);
}

#define AS(one) ((Instance *)(one))

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)n, (void)categories;
    AS(c)->logs = on;
    return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logs)
{
    (void)resources, (void)visible;
    Instance *one = new_instance(name, functions ? functions->componentEnvironment : NULL,
                                 functions ? (void *)functions->logger : NULL, logs);
    if (!one) return NULL;
    if (type == fmi2CoSimulation && token && !strcmp(token, TOKEN)) return one;
    snprintf(one->said, sizeof one->said, "%s", type == fmi2CoSimulation
             ? "the guid is not the one with which this FMU was made." : "this FMU offers co-simulation.");
    tell(one, ERROR);
    free_instance(one);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c) { free_instance(c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real begins, fmi2Boolean ends,
                               fmi2Real end)
{
    (void)has_tolerance, (void)tolerance, (void)ends, (void)end;
    AS(c)->asked_start = begins;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return (fmi2Status)start(c); }
fmi2Status fmi2Terminate(fmi2Component c) { (void)c; return fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { begin(c); return fmi2OK; }

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real x[]) { return (fmi2Status)get(c, r, n, x); }
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real x[])
{
    return (fmi2Status)set(c, r, n, x);
}

#define NONE_OF(Kind, Type)                                                                                        \
    fmi2Status fmi2Get##Kind(fmi2Component c, const fmi2ValueReference r[], size_t n, Type x[])                    \
    {                                                                                                              \
        (void)x;                                                                                                   \
        return (fmi2Status)other_kind(AS(c), r, n, #Kind);                                                         \
    }                                                                                                              \
    fmi2Status fmi2Set##Kind(fmi2Component c, const fmi2ValueReference r[], size_t n, const Type x[])              \
    {                                                                                                              \
        (void)x;                                                                                                   \
        return (fmi2Status)other_kind(AS(c), r, n, #Kind);                                                         \
    }

NONE_OF(Integer, fmi2Integer)
NONE_OF(Boolean, fmi2Boolean)
NONE_OF(String, fmi2String)

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *kept) { return (fmi2Status)take_state(c, (State **)kept); }
fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate kept) { return (fmi2Status)give_state(c, kept); }
fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *kept)
{
    (void)c;
    return (fmi2Status)free_state((State **)kept);
}
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate kept, size_t *size)
{
    (void)c, (void)kept;
    return (fmi2Status)size_of_state(size);
}
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate kept, fmi2Byte bytes[], size_t size)
{
    (void)c;
    return (fmi2Status)write_state(kept, bytes, size);
}
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *kept)
{
    return (fmi2Status)read_state(c, bytes, size, (State **)kept);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference of[], size_t n, const fmi2ValueReference by[],
                                        size_t m, const fmi2Real seed[], fmi2Real found[])
{
    (void)c, (void)of, (void)n, (void)by, (void)m, (void)seed, (void)found;
    return fmi2Error;
}
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer order[],
                                       const fmi2Real x[])
{
    (void)c, (void)r, (void)order, (void)x;
    return n ? fmi2Error : fmi2OK;
}
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer order[],
                                        fmi2Real x[])
{
    (void)c, (void)r, (void)order, (void)x;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_going_back)
{
    (void)no_going_back;
    return (fmi2Status)step(c, t, h);
}
fmi2Status fmi2CancelStep(fmi2Component c) { (void)c; return fmi2Error; }
fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *x) { (void)c, (void)s, (void)x; return fmi2Discard; }
fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *x)
{
    if (s != fmi2LastSuccessfulTime) return fmi2Discard;
    *x = AS(c)->s.time;
    return fmi2OK;
}
fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind s, fmi2Integer *x)
{
    (void)c, (void)s, (void)x;
    return fmi2Discard;
}
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *x)
{
    (void)c;
    if (s != fmi2Terminated) return fmi2Discard;
    *x = fmi2False;
    return fmi2OK;
}
fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind s, fmi2String *x) { (void)c, (void)s, (void)x; return fmi2Discard; }

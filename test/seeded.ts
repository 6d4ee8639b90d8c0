// A fixed seed for random tests, so that no change fails because of an unrelated case. Another seed tests other cases:
// FUZZ_SEED=$RANDOM npm test -- test/checks/ownership/pull-sequences.test.ts.
import fc from 'fast-check'

/** The seed for generators other than fast-check. */
export const fuzzSeed = Number(process.env['FUZZ_SEED'] ?? 20_261_122)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: fuzzSeed })

export default fc

// Chance in tests, the same each time: a change must not fail because of a case that it has nothing to do with. Another
// seed looks further: FUZZ_SEED=$RANDOM npm test -- test/checks/ownership/pull-sequences.test.ts.
import fc from 'fast-check'

/** For generators of our own. */
export const fuzzSeed = Number(process.env['FUZZ_SEED'] ?? 20_261_122)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: fuzzSeed })

export default fc

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  reporters: ['default', '<rootDir>/test/left-out-reporter.mjs'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/strip-types.mjs' },
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/src/**/*.test.ts'],
  // Machines are slow and busy, and a wait that is over early costs nothing.
  testTimeout: 120_000,
  // Most of the slow tests wait for processes of their own.
  maxWorkers: '100%',
}

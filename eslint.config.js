// Typed lint. What STYLE forbids in the pure floors (clocks, randomness, platform imports) fails here;
// which floor may import which is guarded by scripts/floors.ts.
import js from '@eslint/js'
import tseslint from 'typescript-eslint'

const pureFloors = [
  'findings',
  'config',
  'go',
  'catalog',
  'bundle',
  'change',
  'checks',
  'gate',
  'messages',
  'ports',
]

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', 'data/', 'fixtures/', 'coverage/', 'src/platform.d.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/require-await': 'off',
      'no-control-regex': 'off',
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
      },
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { globals: { __dirname: 'readonly', __filename: 'readonly' } },
  },
  {
    files: pureFloors.map((floor) => `src/${floor}/**/*.ts`),
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        'process',
        'fetch',
        'Buffer',
        'setTimeout',
        'setInterval',
        'setImmediate',
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Pure floors are deterministic.' },
        { object: 'Date', property: 'now', message: 'Time comes through the Clock port.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'Time comes through the Clock port.',
        },
        { selector: 'AwaitExpression', message: 'Pure floors do not wait.' },
      ],
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*'], message: 'Pure floors know no platform.' }] },
      ],
    },
  },
  { files: ['scripts/**', 'bench/**', 'test/**', '**/*.test.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**'],
    ignores: ['test/seeded.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { name: 'fast-check', importNames: ['default'], message: 'Tests take it from test/seeded.ts.' },
      ],
    },
  },
)

import { describe, expect, test } from '@jest/globals'
import { defaultConfig, findUnknownRuleIdsInConfig, parseConfig } from '../../src/config/config.ts'

const findConfigProblems = (text: string) => {
  const parsed = parseConfig(text)
  return parsed.kind === 'config'
    ? []
    : parsed.findings.map(({ at, what }) => `${at?.line}:${at?.column} ${what}`)
}

describe('a configuration', () => {
  test.each([undefined, '# nothing\n', '{}\n'])('that is empty (%j) is the default', (text) => {
    expect(parseConfig(text)).toEqual({ kind: 'config', config: defaultConfig })
  })

  test('overrides only the keys that it contains', () => {
    expect(parseConfig('merge:\n  enabled: false\nimages:\n  registries: [quay.io/acme]\n')).toMatchObject({
      kind: 'config',
      config: { merge: { enabled: false }, images: { registries: ['quay.io/acme'] } },
    })
  })

  test.each([
    ['an unknown key', 'merg:\n  enabled: false\n', /unknown key "merg"/],
    ['an unknown key deep inside', 'merge:\n  enable: false\n', /merge: unknown key "enable"/],
    ['a wrong type', 'merge:\n  enabled: "no"\n', /merge.enabled: must be true or false/],
    ['a number instead of a string', 'opm: 1.73\n', /opm: must be a string in quotes/],
    ['a single value instead of a list', 'catalogs: catalog\n', /catalogs: must be a list/],
    ['a missing key', 'catalogs:\n- version: "4.20"\n', /catalogs.0.path: is missing/],
    [
      'a number below the minimum',
      'merge:\n  requires: [{ app: 0, name: a }]\n',
      /app: must be greater than 0/,
    ],
    [
      'an invalid severity',
      'rules:\n  several-heads: fatal\n',
      /several-heads: must be off, info, warning, or/,
    ],
    ['a duplicate key', 'opm: v1.73\nopm: v1.60\n', /unique/],
    ['an alias bomb', 'rules: &a [x]\nowners: *a\n', /./],
    ['text that is not YAML', 'merge: [\n', /./],
    ['a list', '- merge\n', /./],
    [
      'two ways to rebuild',
      'rebuild:\n  workflow: a.yml\n  event: b\n',
      /must contain only one of workflow, event, and webhook/,
    ],
    [
      'a placeholder on one side only',
      'templates:\n- template: t/{name}.yaml\n  catalog: c/{version}\n',
      /\{name\} must occur in both the template and the catalog/,
    ],
    ['a glob in a template path', 'templates:\n- {template: "t/*.yaml", catalog: c}\n', /without \* or \?/],
    ['a path above the root', 'templates:\n- {template: ../t.yaml, catalog: c}\n', /relative to the root/],
    ['a lone brace', 'templates:\n- {template: "t{.yaml", catalog: c}\n', /brace/],
    ['a second document', 'opm: v1.73\n---\nopm: v1.60\n', /./],
  ])('with %s is invalid, and each problem has a location', (_name, text, says) => {
    const problems = findConfigProblems(text)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.join('\n')).toMatch(says)
    expect(problems.every((problem) => /^\d+:\d+ /.test(problem))).toBe(true)
  })

  test('that configures an unknown rule is reported with the location of that rule', () => {
    const known = new Set(['several-heads'])
    expect(findUnknownRuleIdsInConfig('rules:\n  several-heads: error\n', known)).toEqual([])
    const [problem] = findUnknownRuleIdsInConfig('rules:\n  several-haeds: error\n', known)
    expect(problem?.at).toMatchObject({ line: 2, column: 3 })
    expect(problem?.what).toContain('several-haeds')
  })
})

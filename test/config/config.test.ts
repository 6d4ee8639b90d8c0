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

  test.each([
    ['a:\n\tb: 1\n', '2:1 a tab indents this line; indent it with spaces'],
    ['a:\n  b: 1\n c: 2\n', '3:1 this line is not aligned with those above it'],
    ['a: "b\nc: 1\n', '3:1 a quotation mark before this line is not closed'],
    ['a: [1, 2\nb: 3\n', '2:1 a `[` or `{` before this line is not closed'],
    ['a: 1\nfoo\nb: 2\n', '2:1 this line must be `key: value`'],
    ['a:b\nc: 1\n', '1:1 this line must be `key: value`, with a space after the colon'],
    ['a: b: c\n', '1:4 this value contains a colon and a space; put the value in quotes'],
    ['a: @foo\n', '1:4 a value cannot start with this character; put the value in quotes'],
    [
      'a:\n- *.yaml\n',
      '2:3 this value starts with `*`, which refers to another value; put the value in quotes',
    ],
    ['a: "\\d"\n', '1:5 in double quotes, `\\` starts an escape sequence'],
    ['a: - b\n', '1:4 a list must start on the line after its key'],
    ['a: "x" y\n', '1:8 this text does not belong here'],
    ['a: "x"#c\n', '1:7 a comment needs a space before `#`'],
    ['a: 1\n---\nb: 1\n', '2:1 the file contains more than one document'],
    ['a: 1\na: 2\n', '2:1 this key must be unique'],
    ['a: ! b\n- c\n', '2:1 this line must be `key: value`'],
    ['a: &\n', '1:4 the file cannot be read from here on'],
  ])('with the syntax error %j has one problem in plain words', (text, problem) => {
    const [found = '', ...more] = findConfigProblems(text)
    expect(more).toEqual([])
    expect(found.replace('the configuration of this repository is invalid: ', '')).toContain(problem)
  })

  test('with keys that are lists or sections is invalid, before the keys are converted to text', () => {
    // Their text contains the text of the keys below them, again on each level.
    const explicit = `${'? '.repeat(120)}a`
    for (const text of [explicit, 'opm: {{version}}\n', '[a]: b\n'])
      expect(findConfigProblems(text)).toEqual([expect.stringContaining('a key must be text')])
  })

  test('that is nested too deeply has one problem', () => {
    expect(findConfigProblems('['.repeat(5000))).toEqual([expect.stringContaining('nested too deeply')])
  })

  test('that configures an unknown rule is reported with the location of that rule', () => {
    const known = new Set(['several-heads'])
    expect(findUnknownRuleIdsInConfig('rules:\n  several-heads: error\n', known)).toEqual([])
    const [problem] = findUnknownRuleIdsInConfig('rules:\n  several-haeds: error\n', known)
    expect(problem?.at).toMatchObject({ line: 2, column: 3 })
    expect(problem?.what).toContain('several-haeds')
  })
})

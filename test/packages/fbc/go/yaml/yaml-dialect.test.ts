// go-yaml v2's dialect, case by case: how opm v1.73 reads each text.
import { describe, expect, test } from '@jest/globals'
import { parseCatalogFile } from '../../../../../packages/fbc/src/load/parse-catalog-file.ts'

/** A document without a schema: opm's error shows the value it read. */
function extractYamlValueFromLoadError(yaml: string): string {
  const error = parseCatalogFile(new TextEncoder().encode(yaml)).loadError ?? 'no error'
  return error.replace(/^object '([^]*)\n' is missing root schema field$/, '$1')
}

const yamlErrorPrefix = 'error converting YAML to JSON: yaml: '

test.each([
  ['~', 'null'],
  ['NULL', 'null'],
  ['nULL', '"nULL"'],
  ['y', 'true'],
  ['Off', 'false'],
  ['tRue', '"tRue"'],
  ['0123', '83'],
  ['0o17', '15'],
  ['0b11', '3'],
  ['-0b11', '-3'],
  ['0x', '"0x"'],
  ['1_000', '1000'],
  ['08', '8'],
  ['5.', '5'],
  ['.5_0', '0.5'],
  ['.5_', '".5_"'],
  ['._5', '"._5"'],
  ['.5__0', '".5__0"'],
  ['-._5', '-0.5'],
  ['1.5_', '1.5'],
  ['1e400', '"1e400"'],
  ['1234e56', '1.234e+59'],
  ['1:30', '"1:30"'],
  ['+', '"+"'],
  ['=', '"="'],
  ['<<', '"<<"'],
  ['2001-01-01', '"2001-01-01"'],
  ['18446744073709551616', '18446744073709552000'],
  ['9007199254740993', '9007199254740992'],
  ['1e21', '1e+21'],
  ['-0.0', '-0'],
  ['! 12', '"12"'],
  ['!!float 3', '3'],
  ['!!binary YQ==', '"a"'],
  ['!custom 5', '"5"'],
])('a plain scalar is %s: %s', (text, value) => {
  expect(extractYamlValueFromLoadError(`a: ${text}\n`)).toBe(`{"a":${value}}`)
})

test.each([
  ['keys that are not strings', '#\nyes: 1\n1_0: 2\n1e30: 3\n', '{"10":2,"1e+30":3,"true":1}'],
  ['the last of repeated keys', 'a: 1\na: 2\n', '{"a":2}'],
  ['a merge that overrides the entries before it', '#\na: 1\n<<: {a: 2, b: 2}\nb: 3\n', '{"a":2,"b":3}'],
  ['an alias to a list that was merged', '#\n<<: &x []\nc: *x\n', '{"c":[]}'],
  ['a quoted merge key as a regular key', '#\n"<<": {a: b}\n', '{"<<":{"a":"b"}}'],
  ['an alias to a merged map', '#\n<<: &x {b: 1}\nc: *x\n', '{"b":1,"c":{"b":1}}'],
  ['a folded scalar', 'a: >\n  b\n  c\n\n  d\n   e\n', '{"a":"b c\\nd\\n e\\n"}'],
  ['only the first of two flow maps', '# c\n{a: b}{c: d}\n', '{"a":"b"}'],
  ['the content before an outdented line', '  a: b\nc: d\n', '{"a":"b"}'],
  ['an empty flow map instead of a key', '#\n{}: x\n', '{}'],
  ['a plain scalar with a colon in a flow map', '#\n{b: {a:}}\n', '{"b":{"a:":null}}'],
])('a document reads as %s', (_what, text, value) => {
  expect(extractYamlValueFromLoadError(text)).toBe(value)
})

describe('opm rejects', () => {
  test.each([
    ['a tab as indentation', 'a: b\n\tc: d\n', 'line 2: found a tab character that violates indentation'],
    ['a mapping in a plain scalar', 'a: b: c\n', 'mapping values are not allowed in this context'],
    ['a JSON escape', 'a: "\\/"\n', 'found unknown escape character'],
    ['a surrogate escape', 'a: "\\ud83d\\ude00"\n', 'found invalid Unicode character escape code'],
    ['an unclosed quote', 'a: "b\n', 'line 2: found unexpected end of stream'],
    ['an unknown anchor', 'a: *x\n', "unknown anchor 'x' referenced"],
    ['an anchor in itself', 'a: &x [*x]\n', "anchor 'x' value contains itself"],
    ['an anchor with a dot', 'a: &a.b c\n', 'did not find expected alphabetic or numeric character'],
    ['a tag that does not match its value', 'a: !!int x\n', 'cannot decode !!str `x` as a !!int'],
    ['bad base64', 'a: !!binary x\n', '!!binary value contains invalid base64 data'],
    ['a key without a colon', 'schema: a\nx\n', "line 3: could not find expected ':'"],
    ['a list in a map', 'a: b\n- c\n', 'line 1: did not find expected key'],
    ['a map as a key', '? {a: b}\n: c\n', 'invalid map key: map[interface {}]interface {}{"a":"b"}'],
    [
      'a map with keys of all types as a key',
      '? {b: 1, a: 1, 2: 1, -3: 1, 1.5: 1, .5: 1, yes: 1, no: 2}\n: x\n',
      'invalid map key: map[interface {}]interface {}{"a":1, "b":1, -3:1, 2:1, 0.5:1, 1.5:1, false:2, true:1}',
    ],
    [
      'keys that are merged into a key',
      'x: &x {1: a}\ny:\n  ? {<<: *x, <<: {2: b}}\n  : z\n',
      'invalid map key: map[interface {}]interface {}{1:"a", 2:"b"}',
    ],
    [
      'numbers in a list as a key',
      '? [1e20, 1e6, 1000000, 18446744073709551615]\n: c\n',
      'invalid map key: []interface {}{1e+20, 1e+06, 1000000, 0xffffffffffffffff}',
    ],
    ['a control character', 'a: "\x07"\n', 'control characters are not allowed'],
    ['another version of YAML', '%YAML 1.2\na: b\n', 'found incompatible YAML document'],
  ])('%s', (_what, text, message) => {
    expect(extractYamlValueFromLoadError(text)).toBe(yamlErrorPrefix + message)
  })

  test('a null key, and reports its value', () => {
    expect(extractYamlValueFromLoadError('~: x\n')).toBe(
      'error converting YAML to JSON: unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"',
    )
  })

  test('a null key in a value that a key of another type replaces, since Go converts both', () => {
    const message =
      'error converting YAML to JSON: unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'
    expect(extractYamlValueFromLoadError('1: [{~: x}]\n1.0: w\n')).toBe(message)
    expect(extractYamlValueFromLoadError('"1": {~: x}\n1: w\n')).toBe(message)
    expect(extractYamlValueFromLoadError('1: {~: x}\n"1": w\n')).toBe(message)
    expect(extractYamlValueFromLoadError('1: w\n1.0: {a: {~: x}}\n')).toBe(message)
    expect(extractYamlValueFromLoadError('1: {~: x}\n1.0: w\n1: z\n')).toBe('{"1":"z"}')
    expect(extractYamlValueFromLoadError('1: {~: x}\n1: w\n')).toBe('{"1":"w"}')
    expect(extractYamlValueFromLoadError('a: {1: {~: x}, 1.0: w}\na: z\n')).toBe('{"a":"z"}')
    expect(extractYamlValueFromLoadError('1: .inf\n1.0: w\n')).toBe('{"1":"w"}')
  })

  test('an infinity, unless another value replaces it', () => {
    expect(extractYamlValueFromLoadError('a: .inf\n')).toBe(
      'error converting YAML to JSON: json: unsupported value: +Inf',
    )
    expect(extractYamlValueFromLoadError('a: .inf\na: 1\n')).toBe('{"a":1}')
  })
})

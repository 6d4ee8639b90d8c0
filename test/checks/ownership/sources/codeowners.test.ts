// CODEOWNERS as GitHub documents it, and compared with a second matcher that works in another way.
import { describe, expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import { findCodeowners, parseCodeownersFile } from '../../../../src/checks/ownership/sources/codeowners.ts'
import { formatPrincipal } from '../../../../src/checks/ownership/principals.ts'

const parseCodeowners = (text: string) => {
  const file = parseCodeownersFile('CODEOWNERS', text)
  if (file.kind === 'broken') throw new Error(file.problems[0].problem)
  return file.value
}
const findOwnersInCodeowners = (text: string, path: string) =>
  findCodeowners(path, parseCodeowners(text)).map(formatPrincipal)
const matchesCodeownersPattern = (pattern: string, path: string) =>
  findOwnersInCodeowners(`${pattern} @a\n`, path).length > 0

describe('a pattern', () => {
  test.each<[string, string[], string[]]>([
    ['*', ['a', 'a/b/c.md', '.github/x'], []],
    ['*.js', ['a.js', 'x/y/a.js'], ['a.jsx', 'a.js.map']],
    ['/build/logs/', ['build/logs/a', 'build/logs/x/a'], ['x/build/logs/a', 'build/logs']],
    ['docs/*', ['docs/getting-started.md'], ['docs/build-app/troubleshooting.md', 'x/docs/a.md']],
    ['apps/', ['apps/a', 'x/apps/y/a'], ['apps', 'apps.md']],
    ['/docs/', ['docs/a', 'docs/x/a'], ['x/docs/a']],
    ['/scripts', ['scripts', 'scripts/a', 'scripts/x/a'], ['x/scripts/a', 'scripts2/a']],
    ['**/logs', ['logs', 'build/logs/a', 'scripts/logs', 'deeply/nested/logs/x/a'], ['logs2/a']],
    ['/apps/github', ['apps/github/a', 'apps/github'], ['apps/a', 'x/apps/github/a']],
    ['a/b', ['a/b', 'a/b/c'], ['x/a/b']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b/z'], ['b', 'a/c']],
    ['a/**', ['a/b', 'a/b/c'], ['a', 'b/a/c']],
    ['**', ['a', 'a/b'], []],
    ['?.md', ['a.md', 'x/b.md'], ['ab.md', '.md']],
    ['*.tar.*', ['a.tar.gz'], ['a.tar']],
    ['/*', ['a'], ['a/b']],
    ['Docs/', ['Docs/a'], ['docs/a']],
    ['a\\ b', ['a b', 'x/a b'], ['a']],
    ['operators/foo*/', ['operators/foo/a', 'operators/foobar/x/a'], ['operators/barfoo/a']],
  ])('%s', (pattern, yes, no) => {
    expect([pattern, yes.filter((path) => !matchesCodeownersPattern(pattern, path))]).toEqual([pattern, []])
    expect([pattern, no.filter((path) => matchesCodeownersPattern(pattern, path))]).toEqual([pattern, []])
  })

  test('matches the same paths as an equivalent regular expression', () => {
    const name = fc.constantFrom('a', 'b', 'ab', '*', 'a*', '**', '?')
    const pattern = fc
      .record({
        lead: fc.boolean(),
        names: fc.array(name, { minLength: 1, maxLength: 4 }),
        trail: fc.boolean(),
      })
      .map(({ lead, names, trail }) => `${lead ? '/' : ''}${names.join('/')}${trail ? '/' : ''}`)
    const path = fc.array(fc.constantFrom('a', 'b', 'ab', 'abb', 'c'), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(pattern, path, (rule, names) => {
        expect([rule, names.join('/'), matchesCodeownersPattern(rule, names.join('/'))]).toEqual([
          rule,
          names.join('/'),
          convertCodeownersPatternToRegExp(rule).test(names.join('/')),
        ])
      }),
      { numRuns: 3000 },
    )
  })

  test('with many wildcards does not take long', () => {
    const start = process.threadCpuUsage()
    matchesCodeownersPattern(`${'**/a*'.repeat(40)}*b`, `${'a/'.repeat(200)}c`)
    matchesCodeownersPattern('*a'.repeat(60), 'a'.repeat(200))
    // Trying all combinations would not end in practice.
    expect(process.threadCpuUsage(start).user / 1e6).toBeLessThan(10)
  })
})

/** The pattern as one regular expression. */
function convertCodeownersPatternToRegExp(pattern: string): RegExp {
  const floats = !pattern.slice(0, -1).includes('/')
  const directory = pattern.endsWith('/')
  const names = pattern.replace(/^\//, '').replace(/\/$/, '').split('/')
  const segments = [...(floats && names[0] !== '**' ? ['**'] : []), ...names, ...(directory ? ['**'] : [])]
  let text = ''
  segments.forEach((segment, at) => {
    const last = at === segments.length - 1
    if (segment === '**') text += last ? '(?:[^/]+/)*[^/]+' : '(?:[^/]+/)*'
    else text += segment.replace(/\*/g, '[^/]*').replace(/\?/g, '[^/]') + (last ? '' : '/')
  })
  const end = segments.at(-1)
  if (end !== '*' && end !== '**') text += '(?:/.*)?'
  return new RegExp(`^${text}$`)
}

describe('a file', () => {
  const text = '# all\n* @all\n/docs/ @docs @org/team # inline\n/docs/private/\n*.md md@example.com\n'
  test('the last matching line wins', () => {
    expect(findOwnersInCodeowners(text, 'x')).toEqual(['all'])
    expect(findOwnersInCodeowners(text, 'docs/a')).toEqual(['docs', 'org/team'])
    expect(findOwnersInCodeowners(text, 'docs/a.md')).toEqual(['md@example.com'])
  })
  test('a line without owners removes them', () => {
    expect(findOwnersInCodeowners(text, 'docs/private/a')).toEqual([])
  })
  test('a path that no line matches has no owners', () => {
    expect(findOwnersInCodeowners('/docs/ @docs\n', 'x')).toEqual([])
  })
  test('blank lines, comments, and Windows line endings have no effect', () => {
    expect(findOwnersInCodeowners('\r\n# c\r\n  \t\n* @A\r\n', 'x')).toEqual(['a'])
  })
  test.each([
    '!a @x',
    '[ab] @x',
    '\\#a @x',
    '* alice',
    '* @',
    '* @a/b/c',
    '* @-a',
    '* @ann@',
    '* @аnn',
    '/ @a',
    'a//b @a',
  ])('with the line %j is broken at this line', (line) => {
    expect(parseCodeownersFile('CODEOWNERS', `* @fine\n${line}\n`)).toMatchObject({
      kind: 'broken',
      problems: [{ at: { file: 'CODEOWNERS', line: 2 } }],
    })
  })
  test('of 3 MB or more is broken, because GitHub ignores it, and one byte less is read', () => {
    const line = '* @a\n'
    const limit = 3 * 1024 * 1024
    expect(parseCodeownersFile('CODEOWNERS', line + '#'.repeat(limit - line.length)).kind).toBe('broken')
    expect(parseCodeownersFile('CODEOWNERS', line + '#'.repeat(limit - line.length - 1)).kind).toBe('read')
    // The limit is in bytes, not characters.
    expect(parseCodeownersFile('CODEOWNERS', `${line}#${'é'.repeat(limit / 2)}`).kind).toBe('broken')
  })
})

describe('whitespace and characters that parsers treat differently', () => {
  const code = (...points: number[]) => String.fromCodePoint(...points)
  const ambiguous = [
    0x0b, 0x0c, 0x00, 0x1b, 0x7f, 0x85, 0xa0, 0xad, 0x1680, 0x180e, 0x2003, 0x200b, 0x200d, 0x200e, 0x2028,
    0x2029, 0x202e, 0x202f, 0x205f, 0x2060, 0x2800, 0x3000, 0x3164, 0xfe0f, 0xfeff, 0xfffd, 0xe0020,
  ].map((point) => [`U+${point.toString(16)}`, code(point)] as const)

  test.each([...ambiguous, ['a carriage return without a line feed', '\r']])(
    'break the file: %s between pattern and owner, or next to one of them',
    (_, character) => {
      for (const line of [
        `/a${character}@mallory`,
        `/a @ann${character}@mallory`,
        `/a @ann${character}`,
        `${character}/a @ann`,
        `/a${character} @ann`,
        character,
        `${character}# @ann`,
      ])
        // At the end of the line, it is part of a Windows line ending.
        if (!line.endsWith('\r'))
          expect([line, parseCodeownersFile('CODEOWNERS', `* @fine\n${line}\n`).kind]).toEqual([
            line,
            'broken',
          ])
    },
  )
  test.each(['\v', '\f', '\0', '\r', '\x85', '\u2028', '\u2029', '\ufeff', '\ufffd'])(
    'break the file in a comment, too, if a parser could end the line there: %j',
    (character) => {
      expect(parseCodeownersFile('CODEOWNERS', `# note${character}* @mallory\n* @ann\n`).kind).toBe('broken')
      expect(parseCodeownersFile('CODEOWNERS', `* @ann # note${character}* @mallory\n`).kind).toBe('broken')
    },
  )
  test('have no effect in a comment if they are only invisible', () => {
    expect(findOwnersInCodeowners('# caf\u00e9\u00a0\u200b☕\ufe0f\n* @ann # x\u00a0y\n', 'x')).toEqual([
      'ann',
    ])
  })
  test.each(['/foo#bar @mallory', '/foo\\', '/foo\\\t@mallory', '/foo\\\\\\'])(
    'break the file in a pattern that could end elsewhere: %j',
    (line) => expect(parseCodeownersFile('CODEOWNERS', `* @ann\n${line}\n`).kind).toBe('broken'),
  )
  test('do not include letters of other scripts, escaped spaces, and tabs', () => {
    expect(findOwnersInCodeowners('/dépôt/\\ x\t@ann\n', 'dépôt/ x')).toEqual(['ann'])
  })
})

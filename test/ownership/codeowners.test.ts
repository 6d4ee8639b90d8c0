// CODEOWNERS as GitHub documents it, and against a second matcher made in another way.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { codeownersOf, readCodeowners } from '../../src/checks/ownership/codeowners.ts'
import { principalName } from '../../src/checks/ownership/principal.ts'

const read = (text: string) => {
  const file = readCodeowners('CODEOWNERS', text)
  if (file.kind === 'broken') throw new Error(file.problems[0].problem)
  return file.value
}
const owners = (text: string, path: string) => codeownersOf(path, read(text)).map(principalName)
const matches = (pattern: string, path: string) => owners(`${pattern} @a\n`, path).length > 0

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
    expect([pattern, yes.filter((path) => !matches(pattern, path))]).toEqual([pattern, []])
    expect([pattern, no.filter((path) => matches(pattern, path))]).toEqual([pattern, []])
  })

  test('says the same as a regular expression made of it', () => {
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
        expect([rule, names.join('/'), matches(rule, names.join('/'))]).toEqual([
          rule,
          names.join('/'),
          reference(rule).test(names.join('/')),
        ])
      }),
      { numRuns: 3000 },
    )
  })

  test('of any kind takes no long time', () => {
    const start = process.threadCpuUsage()
    matches(`${'**/a*'.repeat(40)}*b`, `${'a/'.repeat(200)}c`)
    matches('*a'.repeat(60), 'a'.repeat(200))
    // Trying all ways would take longer than the world has been there.
    expect(process.threadCpuUsage(start).user / 1e6).toBeLessThan(10)
  })
})

/** The same meaning, said as one regular expression. */
function reference(pattern: string): RegExp {
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
    expect(owners(text, 'x')).toEqual(['all'])
    expect(owners(text, 'docs/a')).toEqual(['docs', 'org/team'])
    expect(owners(text, 'docs/a.md')).toEqual(['md@example.com'])
  })
  test('a line without owners takes them away', () => {
    expect(owners(text, 'docs/private/a')).toEqual([])
  })
  test('nobody owns what no line matches', () => {
    expect(owners('/docs/ @docs\n', 'x')).toEqual([])
  })
  test('blank lines, comments and the line ends of Windows mean nothing', () => {
    expect(owners('\r\n# c\r\n  \t\n* @A\r\n', 'x')).toEqual(['a'])
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
  ])('with the line %j gives nobody authority, whatever its other lines say', (line) => {
    expect(readCodeowners('CODEOWNERS', `* @fine\n${line}\n`)).toMatchObject({
      kind: 'broken',
      problems: [{ at: { file: 'CODEOWNERS', line: 2 } }],
    })
  })
  test('of 3 MB or more is ignored, as GitHub does; one byte less is read', () => {
    const line = '* @a\n'
    const limit = 3 * 1024 * 1024
    expect(readCodeowners('CODEOWNERS', line + '#'.repeat(limit - line.length)).kind).toBe('broken')
    expect(readCodeowners('CODEOWNERS', line + '#'.repeat(limit - line.length - 1)).kind).toBe('read')
    // Bytes count, not characters.
    expect(readCodeowners('CODEOWNERS', `${line}#${'é'.repeat(limit / 2)}`).kind).toBe('broken')
  })
})

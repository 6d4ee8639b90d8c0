import { describe, expect, test } from '@jest/globals'
import { parseConfig } from '../../src/config/config.ts'
import { formatMergeMessage } from '../../src/report/merge-message.ts'
import { createTestPullSnapshot, createHexSha } from '../policy/verdict-inputs.ts'

const headCommitTrailerLine = `Head: ${createHexSha('a')}\n`

describe('the message of a merge', () => {
  test('contains the pull request and its head by default', () => {
    expect(formatMergeMessage(createTestPullSnapshot({ title: 'Update foo' }))).toBe(
      `Merge pull request 7: Update foo\n\n${headCommitTrailerLine}`,
    )
    expect(formatMergeMessage(createTestPullSnapshot({ title: '@x' }))).toBe(
      `Merge pull request 7: x\n\n${headCommitTrailerLine}`,
    )
    expect(formatMergeMessage(createTestPullSnapshot({ title: '###' }))).toBe(
      `Merge pull request 7\n\n${headCommitTrailerLine}`,
    )
  })

  test('follows the template, with the head below it', () => {
    const template = { title: 'catalog: {title} ({number})', body: 'By {author}.\n\n\n\nOf {head}\n' }
    expect(formatMergeMessage(createTestPullSnapshot({ title: 'Update foo' }), template)).toBe(
      `catalog: Update foo (7)\n\nBy alice.\n\nOf ${createHexSha('a')}\n\n${headCommitTrailerLine}`,
    )
  })

  test('names a deleted account as ghost', () => {
    expect(formatMergeMessage(createTestPullSnapshot({ author: null }), { title: '{author}' })).toContain(
      'ghost\n',
    )
  })

  test.each([
    ['the template', 'Closes #12 @team [skip ci] GH-3', 'x', 'Closes 12 team (skip ci)'],
    ['the title of a pull request', '{title}', '[skip ci] #12 @team', '(skip ci) 12 team'],
    ['the template and title combined', 'x G{title}', 'H-12', 'x'],
    ['the template and title combined in a URL', 'see http:{title}', '//x/pull/3', 'see http:'],
  ])('contains no trigger from %s', (_from, template, title, says) => {
    const [first] = formatMergeMessage(createTestPullSnapshot({ title }), { title: template }).split('\n')
    expect(first).toBe(says)
    expect(formatMergeMessage(createTestPullSnapshot({ title }), { body: template })).toContain(
      `\n\n${says}\n\n${headCommitTrailerLine}`,
    )
  })

  test('contains no trailer from the body, and no line break from the title', () => {
    const template = { title: '{title}', body: 'Co-authored-by: X <x@x>\n{title}' }
    const lines = formatMergeMessage(
      createTestPullSnapshot({ title: 'a\nSigned-off-by: b' }),
      template,
    ).split('\n')
    expect(lines[0]).toBe('a Signed-off-by b')
    expect(lines.slice(2, 4)).toEqual(['Co-authored-by X <xx>', 'a Signed-off-by b'])
  })

  test('uses the default if the template is empty after escaping', () => {
    expect(formatMergeMessage(createTestPullSnapshot({ title: '#' }), { title: '{title}' })).toContain(
      'Merge pull request 7',
    )
  })
})

describe('a template', () => {
  const problems = (text: string) => {
    const parsed = parseConfig(text)
    return parsed.kind === 'config' ? [] : parsed.findings.map(({ at, what }) => `${at?.line}: ${what}`)
  }
  test.each([
    ['merge:\n  message:\n    title: "{nummer}"\n', /^3: .*unknown placeholder \{nummer\}/],
    ['merge:\n  message:\n    title: "{number"\n', /^3: .*brace/],
    ['merge:\n  message:\n    title: |\n      a\n      b\n', /^3: .*must be a single line/],
    ['merge:\n  message:\n    title: a\n    body: "{}"\n', /^4: .*unknown placeholder \{\}/],
    ['merge:\n  message:\n    subject: a\n', /subject/],
    ['merge:\n  method: fast\n', /^2: .*method/],
    ['merge:\n  requires:\n    - name: ci\n', /^3: .*app/],
    ['merge:\n  requires:\n    - {app: actions, name: ci}\n', /^3: .*app/],
  ])('reports an error on the line of the mistake: %j', (text, says) => {
    expect(problems(text).join('\n')).toMatch(says)
  })

  test('reports no error if it is valid', () => {
    const text = 'merge:\n  method: squash\n  message: {title: "{number}: {title}", body: "{head} {author}"}\n  requires: [{app: 15368, name: ci}]\n' // prettier-ignore
    expect(problems(text)).toEqual([])
  })
})

// A file can have any name: it has one link, to that file, and its name creates no other link.
import { describe, expect, test } from '@jest/globals'
import { marked, type Token, type Tokens } from 'marked'
import { toCommitSha, toPullNumber } from '../../src/pull-request/ids.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import {
  createVerdictInput,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
  createHexSha,
} from '../policy/verdict-inputs.ts'

const pullContext = {
  web: 'https://github.com',
  repository: { owner: 'acme', name: 'catalog' },
  pull: toPullNumber(7),
}

function parseMarkdownLinks(markdown: string): readonly Tokens.Link[] {
  const found: Tokens.Link[] = []
  void marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    if (token.type === 'link') found.push(token as Tokens.Link)
    expect(token.type).not.toBe('image')
  })
  return found
}

describe.each(['error', 'warning'] as const)('the link of an %s', (severity) => {
  test.each([
    'catalogs/v4.20/foo/catalog.yaml',
    'a b/c)d(e.yaml',
    'x](https://evil.example)/c.yaml',
    '![x](y)/`c`.yaml',
    'a|b/c#d?e%20.yaml',
    '@everyone/<img src=x>.yaml',
    'ünï/\u202ec.yaml',
  ])('leads only to %j', (file) => {
    const found: Finding = {
      ...{ rule: 'self-edge', severity, what: 'wrong', why: '', fix: 'mend' },
      at: { file, line: 7, column: 3 },
    }
    const outcomes = createOutcomesForAllChecks(createPassedCheckOutcome('validation', { findings: [found] }))
    const { comment, checks } = renderPullReport(decideVerdict(createVerdictInput({ outcomes })), {
      changeLines: [],
      page: pullContext,
    })
    const addresses = parseMarkdownLinks(comment).map(({ href }) => href)
    for (const address of addresses)
      expect(address).toMatch(/^https:\/\/github\.com\/acme\/catalog\/(?:blob|commit|pull)\//)
    const fileUrls = addresses
      .filter((address) => address.includes('/blob/'))
      .map((address) => new URL(address))
    expect(
      fileUrls.map(({ pathname, hash, search }) => [decodeURIComponent(pathname), hash, search]),
    ).toEqual([[`/acme/catalog/blob/${toCommitSha(createHexSha('a'))}/${file}`, '#L7', '']])
    const summary = checks.find(({ name }) => name.endsWith('validation'))?.summary ?? ''
    expect(parseMarkdownLinks(summary)).toHaveLength(1)
  })
})

// What is said of images: the same value in a check, a comment and an issue, with nobody's text taken for more.
import { describe, expect, test } from '@jest/globals'
import {
  deploymentDescription,
  publicationOf,
  publishCheck,
  publishedLines,
  type ToldImage,
  type ToldPublication,
} from '../../src/messages/publish-check.ts'
import { publishIssue, publishIssueMarker } from '../../src/messages/publish-issue.ts'
import { composeReport } from '../../src/messages/report.ts'
import { commitSha } from '../../src/change/ids.ts'

const digest = `sha256:${'a'.repeat(64)}`
const hostile = '@everyone [x](https://evil.example) <img src=x> | closes #1 ```'
const told = (state: ToldPublication): ToldImage => ({
  root: 'catalogs/v4.20',
  image: 'quay.io/o/c',
  tags: ['latest', 'v4.20'],
  state,
})
const published = told({
  kind: 'published',
  digest,
  unchanged: false,
  seconds: 0.42,
  size: 51_200,
  packages: 2,
  bundles: 1,
  moved: [],
  changeLines: [],
})
const failed = (isLasting: boolean) => told({ kind: 'failed', why: hostile, attempts: 2, isLasting })
const refused = told({ kind: 'refused', why: 'the operator does not allow it' })

describe('the check that tells of images', () => {
  test.each([
    ['passes when all are published', [published], 'success'],
    ['is still going on while one is built', [published, told({ kind: 'building' })], undefined],
    ['is still going on while a registry may come back', [published, failed(false)], undefined],
    ['fails when people should look, whatever else is published', [published, failed(true)], 'failure'],
    ['fails when the operator refuses', [refused], 'failure'],
    [
      'is neutral when a newer commit came first',
      [told({ kind: 'superseded', by: 'b'.repeat(40) })],
      'neutral',
    ],
  ])('%s', (_name, images, conclusion) => {
    expect(publishCheck(images).conclusion).toBe(conclusion)
  })

  test('names digest, size, contents and time', () => {
    const { summary, title } = publishCheck([published])
    expect(title).toBe('Published 1 image')
    for (const words of [digest, '51.2 kB', '2 packages, 1 bundle', '0.4 s', 'quay.io/o/c:latest'])
      expect(summary).toContain(words)
  })

  test('takes no text of a registry for Markdown', () => {
    for (const text of [
      publishCheck([failed(true)]).summary,
      publishedLines([failed(true)]).join('\n'),
      publishIssue([
        {
          root: 'catalogs/v4.20',
          image: 'quay.io/o/c',
          tags: ['latest'],
          commit: 'c'.repeat(40),
          since: '2026-11-22T10:00Z',
          why: hostile,
          kind: 'not-published',
        },
      ]).body.replace(publishIssueMarker, ''),
    ]) {
      expect(text).not.toMatch(/@everyone|(?<!\\)\]\(|<img|#1\b|```/)
    }
  })

  test('fits the longest description that a deployment takes', () => {
    for (const { state } of [published, failed(true), refused])
      expect([...deploymentDescription(state)].length).toBeLessThanOrEqual(140)
    expect(deploymentDescription({ kind: 'refused', why: 'x'.repeat(500) }).length).toBeLessThanOrEqual(140)
  })
})

describe("a merged pull request's comment", () => {
  const verdict = {
    kind: 'merge',
    reasons: [],
    head: commitSha('d'.repeat(40)),
    base: commitSha('e'.repeat(40)),
    baseRef: 'main',
    config: '',
    outcomes: [],
    waiting: [],
  } as const
  const comment = (images: readonly ToldImage[]) =>
    composeReport(verdict, {
      changeLines: [],
      landed: 'f'.repeat(40),
      published: { state: publicationOf(images), lines: publishedLines(images) },
    }).comment

  test('cannot be read as if it were published when one image is not', () => {
    expect(comment([published, failed(true)])).toMatch(/^### ❌ Merged, but not published$/m)
    expect(comment([published, failed(true)])).toMatch(/Users do not get this change yet/)
    expect(comment([published, failed(false)])).toMatch(/^### 🔄 Merged; being published$/m)
    expect(comment([published])).toMatch(/^### ✅ Merged and published$/m)
    expect(comment([published])).toContain(digest)
  })
})

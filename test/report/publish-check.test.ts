// How image publication is reported in a check, a comment, and an issue, with untrusted text escaped.
import { describe, expect, test } from '@jest/globals'
import {
  formatDeploymentDescription,
  summarizePublicationStatus,
  renderPublishCheck,
  formatPublishedImageLines,
  type PublishedImageView,
  type PublicationView,
} from '../../src/report/publish-check.ts'
import { renderPublishIssue, publishIssueMarker } from '../../src/report/base-branch-issues.ts'
import { renderPullReport } from '../../src/report/report.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'

const imageDigest = `sha256:${'a'.repeat(64)}`
const hostileText = '@everyone [x](https://evil.example) <img src=x> | closes #1 ```'
const createPublishedImageView = (state: PublicationView): PublishedImageView => ({
  root: 'catalogs/v4.20',
  image: 'quay.io/o/c',
  tags: ['latest', 'v4.20'],
  state,
})
const successfulPublishView = createPublishedImageView({
  kind: 'published',
  digest: imageDigest,
  unchanged: false,
  seconds: 0.42,
  size: 51_200,
  packages: 2,
  bundles: 1,
  moved: [],
  changeLines: [],
})
const createFailedPublishView = (isLasting: boolean) =>
  createPublishedImageView({ kind: 'failed', why: hostileText, attempts: 2, isLasting })
const rejectedPublishView = createPublishedImageView({
  kind: 'refused',
  why: 'the operator does not allow it',
})

describe('the publish check', () => {
  test.each([
    ['passes if all images are published', [successfulPublishView], 'success'],
    [
      'stays in progress while an image is being built',
      [successfulPublishView, createPublishedImageView({ kind: 'building' })],
      undefined,
    ],
    [
      'stays in progress while a failed push can be retried',
      [successfulPublishView, createFailedPublishView(false)],
      undefined,
    ],
    [
      'fails if a push fails permanently, even if other images are published',
      [successfulPublishView, createFailedPublishView(true)],
      'failure',
    ],
    ['fails if the operator does not allow an image', [rejectedPublishView], 'failure'],
    [
      'is neutral if a newer commit supersedes it',
      [createPublishedImageView({ kind: 'superseded', by: 'b'.repeat(40) })],
      'neutral',
    ],
  ])('%s', (_name, images, conclusion) => {
    expect(renderPublishCheck(images).conclusion).toBe(conclusion)
  })

  test('reports the digest, size, contents, and time', () => {
    const { summary, title } = renderPublishCheck([successfulPublishView])
    expect(title).toBe('Published 1 image')
    for (const expected of [imageDigest, '51.2 kB', '2 packages, 1 bundle', '0.4 s', 'quay.io/o/c:latest'])
      expect(summary).toContain(expected)
  })

  test('renders no registry text as Markdown', () => {
    for (const text of [
      renderPublishCheck([createFailedPublishView(true)]).summary,
      formatPublishedImageLines([createFailedPublishView(true)]).join('\n'),
      renderPublishIssue([
        {
          root: 'catalogs/v4.20',
          image: 'quay.io/o/c',
          tags: ['latest'],
          commit: 'c'.repeat(40),
          since: '2026-11-22T10:00Z',
          why: hostileText,
          kind: 'not-published',
        },
      ]).body.replace(publishIssueMarker, ''),
    ]) {
      expect(text).not.toMatch(/@everyone|(?<!\\)\]\(|<img|#1\b|```/)
    }
  })

  test('fits the maximum length of a deployment description', () => {
    for (const { state } of [successfulPublishView, createFailedPublishView(true), rejectedPublishView])
      expect([...formatDeploymentDescription(state)].length).toBeLessThanOrEqual(140)
    expect(formatDeploymentDescription({ kind: 'refused', why: 'x'.repeat(500) }).length).toBeLessThanOrEqual(
      140,
    )
  })
})

describe("a merged pull request's comment", () => {
  const verdict = {
    kind: 'merge',
    reasons: [],
    head: toCommitSha('d'.repeat(40)),
    base: toCommitSha('e'.repeat(40)),
    baseRef: 'main',
    config: '',
    outcomes: [],
    waiting: [],
  } as const
  const comment = (images: readonly PublishedImageView[]) =>
    renderPullReport(verdict, {
      changeLines: [],
      mergeCommit: 'f'.repeat(40),
      published: { state: summarizePublicationStatus(images), lines: formatPublishedImageLines(images) },
    }).comment

  test('reports the pull request as published only if every image is published', () => {
    expect(comment([successfulPublishView, createFailedPublishView(true)])).toMatch(
      /^### ❌ Merged, but not published$/m,
    )
    expect(comment([successfulPublishView, createFailedPublishView(true)])).toMatch(
      /Users cannot get this change yet/,
    )
    expect(comment([successfulPublishView, createFailedPublishView(false)])).toMatch(
      /^### 🔄 Merged; publishing the catalog image$/m,
    )
    expect(comment([successfulPublishView])).toMatch(/^### ✅ Merged and published$/m)
    expect(comment([successfulPublishView])).toContain(imageDigest)
  })
})

// The check run of install tests on a cluster: its conclusion, and that untrusted text cannot break out of its block.
import { expect, test } from '@jest/globals'
import {
  createFailedClusterTestOutcome,
  type ClusterTestOutcome,
} from '../../src/checks/install/cluster-test/cluster-test-state.ts'
import type { ClusterTestReport } from '../../src/checks/install/cluster-test/cluster-test-report.ts'
import { renderClusterTestCheck, type ClusterTestView } from '../../src/report/cluster-test-check.ts'

const createView = (outcome: ClusterTestOutcome, more: Partial<ClusterTestReport> = {}): ClusterTestView => ({
  kind: 'tried',
  report: {
    id: 'abcdefgh',
    target: 'OLM v0',
    package: 'foo',
    channel: 'stable',
    mode: 'AllNamespaces',
    steps: ['foo.v1', 'foo.v2'],
    namespace: 'catalog-bot-foo-abcdefgh',
    cluster: ['Kubernetes v1.36.2'],
    outcome,
    started: 0,
    ended: 65_000,
    events: [{ at: 2000, says: 'namespace is there' }],
    evidence: [],
    leftovers: [],
    ...more,
  },
})
const successfulInstallView = createView({ verdict: 'installs' })
const crashLoopView = createView(createFailedClusterTestOutcome('crash-loop', 'it ended'))
const environmentFailureView = createView(createFailedClusterTestOutcome('quota', 'exceeded quota'))
const infrastructureFailureView = createView(createFailedClusterTestOutcome('registry-failing', '503'))

test('the check passes only if everything installs, and fails only for what the author can fix', () => {
  const conclusions = [
    [successfulInstallView],
    [successfulInstallView, successfulInstallView],
    [successfulInstallView, crashLoopView],
    [crashLoopView, infrastructureFailureView],
    [successfulInstallView, environmentFailureView],
    [infrastructureFailureView],
    [successfulInstallView, { kind: 'not-tried', what: 'x', why: 'y' } as const],
    [],
  ].map((view) => renderClusterTestCheck(view).conclusion)
  expect(conclusions).toEqual([
    'success',
    'success',
    'failure',
    'failure',
    'neutral',
    'neutral',
    'neutral',
    'neutral',
  ])
  expect(renderClusterTestCheck([{ kind: 'waiting' }])).toMatchObject({
    status: 'queued',
    name: 'catalog-bot / cluster',
  })
})

test('the summary reports the steps, the cluster, the times, and the leftover objects', () => {
  const { summary } = renderClusterTestCheck([
    createView({ verdict: 'installs' }, { leftovers: ['Namespace x'] }),
  ])
  for (const expected of [
    'upgrade `foo.v1` → `foo.v2`',
    '`Kubernetes v1.36.2`',
    '1:05 minutes',
    '0:02 namespace is there',
    'These objects remain on the cluster',
    'Namespace x',
  ])
    expect(summary).toContain(expected)
})

test('untrusted text creates no mention or link, and cannot end a block', () => {
  const evil = '</details> @everyone [x](https://evil.test) ![y](z) ```\n# owned'
  const { summary } = renderClusterTestCheck([
    createView(createFailedClusterTestOutcome('csv-failed', evil), {
      package: evil,
      steps: [evil],
      events: [{ at: 1, says: evil }],
      leftovers: [evil],
      evidence: [{ title: evil, lines: [evil, '```', '@everyone'] }],
    }),
  ])
  const [before = '', block = '', after = ''] = summary.split(/^````+$/m)
  expect(block).toContain('@everyone')
  for (const part of [before, after]) {
    expect(part.replace(/(`+)[^`](?:.*?[^`])?\1(?!`)/g, '')).not.toMatch(/@everyone|[^\\]\]\(https|^# owned/m)
  }
  const tags =
    summary
      .replace(block, '')
      .replace(/(`+)[^`](?:.*?[^`])?\1(?!`)/g, '')
      .match(/<\/?details>/g) ?? []
  expect(tags.filter((tag) => tag === '<details>')).toHaveLength(tags.length / 2)
  expect(summary.length).toBeLessThan(65_535)
})

test('a report that is too long is truncated between its sections', () => {
  const lines = Array.from({ length: 40 }, () => '✅'.repeat(500))
  const many = Array.from({ length: 6 }, () =>
    createView(createFailedClusterTestOutcome('csv-failed', 'x'), { evidence: [{ title: 't', lines }] }),
  )
  const { summary } = renderClusterTestCheck(many)
  expect(Buffer.byteLength(summary)).toBeLessThan(60_100)
  expect(summary).toContain('The remaining output is omitted because it is too long.')
  expect(summary.match(/<details>/g)?.length).toBe(summary.match(/<\/details>/g)?.length)
})

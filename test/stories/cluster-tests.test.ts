// From a maintainer's comment to a check run that reports what a cluster did: the real bot, its process with the
// kubeconfig, and the one that serves the catalog, against a fake API.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addVersionToChannelStart } from '../../sandbox/demo/catalog-edits.ts'
import {
  pushCatalogImages,
  readDemoCatalogFiles,
  demoRepositoryName,
} from '../../sandbox/demo/demo-environment.ts'
import { findBotComment } from '../../sandbox/demo/story-outcome.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import {
  startFakeApiServer,
  createKubernetesStatusResponse,
  type FakeApiServer,
} from '../cluster-test/cluster/fake-kubernetes-api.ts'
import { simulateOlmV0, type FakeOlmV0Script } from '../cluster-test/cluster/fake-olm.ts'
import { startStoryEnvironment, waitUntil, type StoryEnvironment } from './story-environment.ts'

const storyTimeoutSeconds = 90
const botConfigPath = '.github/catalog-bot.yml'

describe('an install test that a maintainer requests', () => {
  let story: StoryEnvironment
  let server: FakeApiServer
  let directory: string
  let ticking: NodeJS.Timeout
  /** How OLM behaves in each install test; the last entry applies to all that follow. */
  let scripts: FakeOlmV0Script[] = []
  let most = 0

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'trials-'))
    server = await startFakeApiServer()
    server.api.put({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes', namespace: 'default' },
      endpoints: [{ addresses: ['192.0.2.10'] }],
      ports: [{ name: 'https', port: 6443 }],
    })
    const targets = join(directory, 'clusters.yml')
    writeFileSync(join(directory, 'kubeconfig'), server.kubeconfig)
    writeFileSync(
      targets,
      `[{github: ${demoRepositoryName}, kubeconfig: kubeconfig, catalogHost: 127.0.0.1, lookSeconds: 0.2}]`,
    )
    const fixed = readDemoCatalogFiles('')[botConfigPath] ?? ''
    story = await startStoryEnvironment({
      sweepSeconds: 300,
      files: { [botConfigPath]: `${fixed}install: {cluster: asked, with: [olm-v0]}\n` },
      environment: { CLUSTER_TARGETS: targets },
    })
    // Time advances automatically here, for OLM and the bot.
    let isTried = false
    ticking = setInterval(() => {
      const { api } = server
      api.now = Date.now()
      const trials = api.list('Namespace').length
      most = Math.max(most, trials)
      if (isTried && trials === 0) {
        api.controllers = []
        if (scripts.length > 1) scripts.shift()
      }
      isTried = trials > 0
      if (api.controllers.length === 0 && scripts[0]) simulateOlmV0(api, scripts[0])
      for (const controller of api.controllers) controller(api.now)
      api.collectGarbage()
    }, 80)
    await story.start()
  })
  afterAll(async () => {
    clearInterval(ticking)
    await story.close()
    await server.close()
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  })

  const path = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
  /** An author without rights adds a version: it waits for an owner, and is tested only on a maintainer's request. */
  const changed = (name: string, version: string, from: string) => {
    const text = addVersionToChannelStart(story.demo.files[path(name)] ?? '', name, version, from)
    pushCatalogImages(story.demo.registry, text, (bundle) => bundle === `${name}.v${version}`)
    return { [path(name)]: text }
  }
  async function open(name: string, version: string, from: string): Promise<MockPull> {
    const { github } = story.demo
    const pull = await github.openPull({
      repository: demoRepositoryName,
      author: 'mallory',
      title: `${name} ${version}`,
      changes: changed(name, version, from),
    })
    await shown(pull)
    return pull
  }
  /** A command applies to what was shown before it was written, and GitHub's times are in seconds. */
  async function shown(pull: MockPull): Promise<void> {
    const { github, repository } = story.demo
    await story.waitUntil(
      'the checks are done',
      () =>
        findBotComment(pull) !== undefined &&
        github
          .checkRuns({ repo: repository, headSha: pull.headSha })
          .some(({ name }) => name.endsWith('install')),
    )
    const at = performance.now()
    await waitUntil('a second has passed', () => performance.now() - at > 1100, 5)
  }
  const runOf = (sha: string) =>
    story.demo.github
      .checkRuns({ repo: story.demo.repository, headSha: sha })
      .findLast(({ name }) => name === 'catalog-bot / cluster')
  const ends = (sha: string, conclusion: string) =>
    waitUntil(
      `the check says ${conclusion}`,
      () => runOf(sha)?.conclusion === conclusion,
      storyTimeoutSeconds,
      [...story.log, runOf(sha)?.summary ?? ''],
    )
  const comment = (pull: MockPull, by: string, text: string) => story.demo.github.comment(pull, by, text)

  test('rejects others with a message, runs for a maintainer, and reports what was installed where', async () => {
    scripts = [{ plans: [['tidepool.v0.6.0']] }, { plans: [['tidepool.v0.5.0'], ['tidepool.v0.6.0']] }]
    const pull = await open('tidepool', '0.6.0', '0.5.0')
    // He owns the package and may approve, but doesn't decide what runs on the cluster.
    comment(pull, 'bob', '/test-install')
    await story.waitUntil(
      'he gets an answer',
      () => findBotComment(pull)?.includes('only maintainers can') === true,
    )
    expect(server.api.list('Namespace')).toEqual([])
    expect(runOf(pull.headSha)).toBeUndefined()
    comment(pull, 'harbormaster', `/test-install ${pull.headSha}`)
    await ends(pull.headSha, 'success')
    const run = runOf(pull.headSha)
    expect(run?.summary).toContain('install of `tidepool.v0.6.0`: **installs**')
    expect(run?.summary).toContain('upgrade `tidepool.v0.5.0` → `tidepool.v0.6.0`: **installs**')
    expect(run?.summary).toContain('`Kubernetes v1.36.2`')
    expect(run?.summary).toContain('Network access was limited to the Kubernetes API')
    expect(server.api.list('Namespace')).toEqual([])
    // The subscribed catalog is the one that would be merged, and its namespaces were limited.
    const made = server.api.requests
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => body as { kind: string })
    for (const kind of ['ResourceQuota', 'LimitRange', 'NetworkPolicy', 'CatalogSource'])
      expect(made.filter((one) => one.kind === kind)).toHaveLength(2)
    expect([...story.log, run?.summary, findBotComment(pull)].join('\n')).not.toContain(
      'token-of-the-cluster',
    )
  })

  test('is for one commit: a push ends it, and only one install test at a time runs on the cluster', async () => {
    // OLM does nothing, so that the test continues.
    scripts = [{ plans: [], catalog: () => ({}) }]
    server.api.controllers = []
    const pull = await open('tidepool', '0.6.1', '0.5.0')
    const old = pull.headSha
    comment(pull, 'harbormaster', '/test-install')
    await story.waitUntil('it runs', () => runOf(old)?.status === 'in_progress')
    const other = await open('lighthouse', '1.2.0', '1.1.0')
    comment(other, 'harbormaster', '/test-install')
    await story.waitUntil('the other one waits', () => runOf(other.headSha)?.status === 'queued')
    expect(runOf(other.headSha)?.summary).toContain('Another install test is running on the cluster')
    await story.demo.github.pushToPull(pull, changed('tidepool', '0.6.2', '0.5.0'))
    await ends(old, 'neutral')
    expect(runOf(old)?.summary).toContain('the pull request has a newer commit')
    expect([most, runOf(pull.headSha)]).toEqual([1, undefined])
    await story.demo.github.close(other)
    // A request for the old commit doesn't apply to the new one.
    await shown(pull)
    comment(pull, 'harbormaster', `/test-install ${old}`)
    await story.waitUntil(
      'it gets an answer',
      () => findBotComment(pull)?.includes('refers to an earlier state') === true,
    )
    expect(runOf(pull.headSha)).toBeUndefined()

    // A cluster problem isn't the author's fault; a problem of the Operator is.
    server.api.fault = ({ method, path: at }) =>
      method === 'POST' && at.endsWith('/resourcequotas')
        ? createKubernetesStatusResponse(
            403,
            'Forbidden',
            'User "trials" cannot create resource "resourcequotas"',
          )
        : undefined
    comment(pull, 'harbormaster', '/test-install')
    await ends(pull.headSha, 'neutral')
    expect(runOf(pull.headSha)?.summary).toContain('This failure is unrelated to the change')
    server.api.fault = () => undefined
    scripts = [{ plans: [['tidepool.v9.9.9']] }]
    server.api.controllers = []
    comment(pull, 'harbormaster', '/test-install')
    await ends(pull.headSha, 'failure')
    expect(runOf(pull.headSha)?.summary).toContain('OLM chose tidepool.v9.9.9')
    await waitUntil(
      'the cluster is clean',
      () => server.api.list('Namespace').length === 0,
      storyTimeoutSeconds,
    )
  })
})

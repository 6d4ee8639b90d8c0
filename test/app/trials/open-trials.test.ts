// The processes of trials, as the App starts them: one that holds the kubeconfig and reads no catalog, others that serve catalogs
// and hold nothing.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openTrials, type Trials } from '../../../src/app/trials/open-trials.ts'
import { treeSha, type TreeSha } from '../../../src/change/ids.ts'
import type { PlannedTrial } from '../../../src/checks/install/trial/plan-trials.ts'
import { askCatalog } from '../../../src/serving/ask-catalog.ts'
import { writtenBlobs } from '../../checks/install/written-catalog.ts'
import { coreKinds, openApiServer, ScriptedApi, type ApiServer } from '../../cluster/scripted-api.ts'

let server: ApiServer
let folder: string
let trials: Trials
let tree: TreeSha

beforeAll(async () => {
  server = await openApiServer()
  server.api = new ScriptedApi([...coreKinds])
  folder = mkdtempSync(join(tmpdir(), 'open-trials-'))
  const work = join(folder, 'work')
  const git = (...parameters: string[]) =>
    execFileSync('git', parameters, {
      cwd: work,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  mkdirSync(join(work, 'catalogs'), { recursive: true })
  const blobs = writtenBlobs(['foo/stable 1.0.0'])
  writeFileSync(join(work, 'catalogs', 'catalog.json'), blobs.map((blob) => JSON.stringify(blob)).join('\n'))
  git('init', '--quiet')
  git('add', '.')
  tree = treeSha(git('write-tree'))
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'a')
  git('clone', '--quiet', '--bare', '.', join(folder, 'mirror.git'))
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig)
  const list = join(folder, 'clusters.yml')
  writeFileSync(list, '- {github: coast/catalog, kubeconfig: kubeconfig, catalogHost: 127.0.0.1}')
  trials = openTrials({ CLUSTER_TARGETS: list })
})
afterAll(async () => {
  await trials.close()
  await server.close()
  rmSync(folder, { recursive: true })
})

const asking = { github: { owner: 'coast', name: 'catalog' }, installation: 1 }
const trial: PlannedTrial = {
  target: 'OLM v0',
  package: 'foo',
  channel: 'stable',
  mode: 'AllNamespaces',
  steps: [],
  crds: [],
  isUpgrade: false,
}

test('the process reads the operator’s list and asks the cluster that it names, as the account that it has', async () => {
  expect(await trials.order({ kind: 'prepare', ...asking })).toMatchObject({
    kind: 'prepared',
    servesCatalogs: true,
  })
  const answer = await trials.order({ kind: 'try', ...asking, trial, catalogs: { head: 1 }, abandoned: [] })
  expect(answer).toEqual({ kind: 'not-tried', why: 'the cluster has no API for OLM v0' })
  expect(server.api.requests.map(({ path }) => path)).toContain('/version')
})

test('a catalog is served from the tree that was named, for as long as it is used', async () => {
  const order = { mirror: join(folder, 'mirror.git'), tree, root: 'catalogs', port: 0 }
  const used = await trials.serving(order, async (port) => ({
    port,
    answers: await askCatalog('x', port, ['foo']),
  }))
  expect(used).toMatchObject({ answers: expect.any(Array), port: expect.any(Number) })
  if ('unserved' in used) throw new Error(used.unserved)
  expect(JSON.stringify(used.answers)).toContain('foo')
  const after = await askCatalog('x', used.port, ['foo'])
  expect(JSON.stringify(after)).not.toBe(JSON.stringify(used.answers))
  expect(
    await trials.serving({ ...order, root: 'nowhere' }, () => Promise.reject(new Error('used'))),
  ).toEqual({
    unserved: 'there is no catalog in nowhere',
  })
})

test('without a list of the operator nobody tries, and no process is started', async () => {
  const nobody = openTrials({})
  expect(await nobody.order({ kind: 'prepare', ...asking })).toMatchObject({ kind: 'refused' })
  await nobody.close()
})

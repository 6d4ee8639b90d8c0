// The processes of cluster tests as the App starts them. One holds the kubeconfig and reads no catalog. The others
// serve catalogs and hold no credentials.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { createClusterTestClient } from '../../../src/cluster-test/process/cluster-test-client.ts'
import { toTreeSha } from '../../../src/pull-request/ids.ts'
import { parseCatalogBlobsFromLines } from '../../checks/install/parse-catalog-lines.ts'
import { coreApiKinds, startFakeApiServer, FakeKubernetesApi } from '../cluster/fake-kubernetes-api.ts'
import { queryCatalogServer } from '../../../packages/fbc-server/src/opm-server.ts'
import { createSelfRemovingDirectory } from '../../temporary-directory.ts'
import { createPlannedClusterTest } from '../planned-cluster-test.ts'

const temporaryDirectory = createSelfRemovingDirectory('open-trials')

const fakeApiServer = await startFakeApiServer()
fakeApiServer.api = new FakeKubernetesApi([...coreApiKinds])
const work = join(temporaryDirectory, 'work')
const git = (...parameters: string[]) =>
  execFileSync('git', parameters, { cwd: work, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
mkdirSync(join(work, 'catalogs'), { recursive: true })
const blobs = parseCatalogBlobsFromLines(['foo/stable 1.0.0'])
writeFileSync(join(work, 'catalogs', 'catalog.json'), blobs.map((blob) => JSON.stringify(blob)).join('\n'))
git('init', '--quiet')
git('add', '.')
const catalogTreeSha = toTreeSha(git('write-tree'))
git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'a')
git('clone', '--quiet', '--bare', '.', join(temporaryDirectory, 'mirror.git'))
writeFileSync(join(temporaryDirectory, 'kubeconfig'), fakeApiServer.kubeconfig)
const list = join(temporaryDirectory, 'clusters.yml')
writeFileSync(list, '- {github: coast/catalog, kubeconfig: kubeconfig, catalogHost: 127.0.0.1}')
const clusterTestClient = createClusterTestClient({ CLUSTER_TARGETS: list })
afterAll(async () => {
  await clusterTestClient.close()
  await fakeApiServer.close()
})

const requestingRepository = { github: { owner: 'coast', name: 'catalog' }, installation: 1 }

test('the process reads the operator’s list and connects to the cluster listed there', async () => {
  expect(await clusterTestClient.order({ kind: 'prepare', ...requestingRepository })).toMatchObject({
    kind: 'prepared',
    servesCatalogs: true,
  })
  const answer = await clusterTestClient.order({
    kind: 'try',
    ...requestingRepository,
    trial: createPlannedClusterTest(),
    catalogs: { head: 1 },
    abandoned: [],
  })
  expect(answer).toEqual({ kind: 'not-tried', why: 'the cluster does not serve the OLM v0 API' })
  expect(fakeApiServer.api.requests.map(({ path }) => path)).toContain('/version')
})

test('serves a catalog from the requested tree only while it is in use', async () => {
  const order = {
    mirror: join(temporaryDirectory, 'mirror.git'),
    tree: catalogTreeSha,
    root: 'catalogs',
    port: 0,
  }
  const used = await clusterTestClient.withServedCatalog(order, async (port) => ({
    port,
    answers: await queryCatalogServer('x', port, ['foo']),
  }))
  expect(used).toMatchObject({ answers: expect.any(Array), port: expect.any(Number) })
  if ('unserved' in used) throw new Error(used.unserved)
  expect(JSON.stringify(used.answers)).toContain('foo')
  const after = await queryCatalogServer('x', used.port, ['foo'])
  expect(JSON.stringify(after)).not.toBe(JSON.stringify(used.answers))
  expect(
    await clusterTestClient.withServedCatalog({ ...order, root: 'nowhere' }, () =>
      Promise.reject(new Error('used')),
    ),
  ).toEqual({ unserved: 'no catalog was found in nowhere' })
})

test("rejects orders without the operator's list", async () => {
  const client = createClusterTestClient({})
  expect(await client.order({ kind: 'prepare', ...requestingRepository })).toMatchObject({ kind: 'refused' })
  await client.close()
})

// The API of the newer release of OLM v1. Its controllers cannot be built here, because one of their modules is in no registry
// that we reach. Our objects must match the CRDs of that release, and no installer may be created. A fake controller only
// reports that the catalog is served.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getClusterTestFailureCode } from './olm-v0.ts'
import { observeCluster } from './observe-cluster.ts'
import type { ClusterStoryContext } from './cluster-stories.ts'

export async function runNewerOlmV1Stories({
  plane,
  startSection,
  claim,
  claimClean,
  runClusterTest,
}: ClusterStoryContext): Promise<void> {
  const pinned = readFileSync(
    join(import.meta.dirname, '..', 'control-plane', 'olm-v1-api', 'go.mod'),
    'utf8',
  )
  startSection(`the API of operator-controller ${/operator-controller (v\S+)/.exec(pinned)?.[1] ?? ''}`)
  await plane.applyFolder(join(plane.built, 'crds', 'olm-v1-api'))
  const group = '/apis/olm.operatorframework.io/v1'
  await plane.ready(
    'the API of OLM v1',
    async () => (await plane.ask('GET', `${group}/clusterextensions`)).status === 200,
  )
  const serve = {
    path: `${group}/clustercatalogs`,
    fact: ({ metadata: { name } }: { readonly metadata: { readonly name: string } }) => {
      const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
      const serving = { type: 'Serving', status: 'True', reason: 'Available', message: '' }
      const status = { conditions: [{ ...serving, lastTransitionTime: now, observedGeneration: 1 }] }
      void plane.ask(
        'PATCH',
        `${group}/clustercatalogs/${name}/status`,
        { status },
        'application/merge-patch+json',
      )
      return 'a ClusterCatalog is there'
    },
  }
  const noted = (path: string, what: string) => ({
    path,
    fact: ({ metadata: { name } }: { readonly metadata: { readonly name: string } }) =>
      /^(?:installer$|catalog-bot-[a-z0-9]{8}$)/.test(name) ? what : undefined,
  })
  const { result, facts } = await observeCluster(
    plane,
    [
      serve,
      noted(`${group}/clusterextensions`, 'a ClusterExtension is there'),
      noted('/api/v1/serviceaccounts', 'an installer is there'),
      noted('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', 'a binding of an installer is there'),
    ],
    () =>
      runClusterTest(
        {
          target: 'OLM v1',
          package: 'solo',
          steps: [{ root: 'solo.v1.1.0', version: '1.1.0', names: ['solo.v1.1.0'] }],
        },
        { catalog: { image: `registry.example/catalog@sha256:${'1'.repeat(64)}` } },
        { catalog: 30_000, extension: 15_000 },
      ),
  )
  claim(
    'the API takes the ClusterCatalog and the ClusterExtension, and no installer is made for it',
    facts.toSorted().join() === 'a ClusterCatalog is there,a ClusterExtension is there',
    facts.join('\n'),
  )
  claim(
    'without controllers the answer is that OLM v1 did nothing',
    getClusterTestFailureCode(result.report) === 'olm-silent',
    result.message,
  )
  await claimClean('it')
}

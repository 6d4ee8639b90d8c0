// Two Git trees with bundle directories, and a repository that records how they are read.
import { createHash } from 'node:crypto'
import { toBlobSha, toTreeSha, type BlobSha } from '../../../src/pull-request/ids.ts'
import type { TouchedPath } from '../../../src/pull-request/change.ts'
import { classifyPath } from '../../../src/pull-request/layout/classify-path.ts'

export type FileTree = Readonly<Record<string, string>>

export const emptyRepositoryLayout = { catalogs: [] }
export const [base, result] = [toTreeSha('1'.repeat(40)), toTreeSha('2'.repeat(40))]

/** A repository with two trees that records its calls. */
export function createFakeGitRepository(before: FileTree, after: FileTree) {
  const calls = { lists: [] as string[], reads: [] as string[] }
  const idOf = (text: string) => toBlobSha(createHash('sha1').update(text).digest('hex'))
  const blobs = new Map<BlobSha, readonly [path: string, text: string]>()
  for (const files of [before, after])
    for (const [path, text] of Object.entries(files)) blobs.set(idOf(text), [path, text])
  const entries = (files: FileTree) =>
    Object.entries(files)
      .map(([path, text]) => ({ path, mode: '100644', oid: idOf(text) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  const treeOf = (tree: string) => entries(tree === base ? before : after)
  return {
    calls: calls,
    paths: [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((path) => before[path] !== after[path])
      .map((path): TouchedPath => ({ path, role: classifyPath(path, emptyRepositoryLayout) })),
    read: {
      list: async (tree: string, prefix = '') => {
        calls.lists.push(prefix)
        return treeOf(tree).filter(({ path }) => prefix === '' || path.startsWith(`${prefix}/`))
      },
      entry: async (tree: string, path: string) => treeOf(tree).find((one) => one.path === path),
      read: async (oid: BlobSha) => {
        const [path = '', text = ''] = blobs.get(oid) ?? []
        calls.reads.push(path)
        return new TextEncoder().encode(text)
      },
    },
  }
}

export function createBundleDirectoryFiles(version: string, more = '', its = 'foo'): FileTree {
  const root = `operators/foo/${version}`
  return {
    [`${root}/manifests/foo.clusterserviceversion.yaml`]: `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: foo.v${version}}
spec:
  version: ${version}
  displayName: foo
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
${more}`,
    [`${root}/metadata/annotations.yaml`]: `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: ${its}
  operators.operatorframework.io.bundle.channels.v1: stable
`,
  }
}

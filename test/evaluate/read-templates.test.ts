// The templates of a change are read only up to a limit.
import { expect, test } from '@jest/globals'
import { assembleCatalog } from '../../packages/fbc/src/facts/catalog.ts'
import { readTemplates } from '../../src/evaluate/read-templates.ts'
import type { PullRequestChange } from '../../src/pull-request/change.ts'
import type { TreeSha } from '../../src/pull-request/ids.ts'
import { detectLayout } from '../../src/pull-request/layout/detect-layout.ts'
import { parseConfig } from '../../src/config/config.ts'
import type { GitRepository } from '../../src/ports/repository.ts'
import { noopCache } from '../../src/catalogs/memory-cache.ts'

test('large templates are read up to a limit, and no catalog is loaded for the others', async () => {
  const packages = Array.from({ length: 40 }, (_, index) => `p${index}`)
  const paths = packages.flatMap((name) => [`t/${name}.yaml`, `catalogs/${name}/catalog.yaml`]).sort()
  const parsed = parseConfig('templates: [{template: "t/{name}.yaml", catalog: "catalogs/{name}"}]')
  if (parsed.kind !== 'config') throw new Error('broken configuration')
  const loaded: string[] = []
  const side = { tree: 'tree' as TreeSha, paths }
  const states = await readTemplates(
    { paths: paths.map((path) => ({ path })), catalogs: [], references: [] } as unknown as PullRequestChange,
    detectLayout(paths, []),
    {
      repository: {
        entry: async (_tree: string, path: string) => ({ mode: '100644', oid: path }),
        read: async () => new Uint8Array(1024 * 1024),
      } as unknown as GitRepository,
      loader: {
        cache: noopCache,
        load: async (_repository, _tree, root) => {
          loaded.push(root)
          return assembleCatalog([])
        },
      },
      config: parsed.config,
      base: side,
      result: side,
    },
  )
  expect(states.map(({ source }) => (typeof source === 'object' ? 'read' : source))).toEqual([
    ...Array.from({ length: 16 }, () => 'read'),
    ...Array.from({ length: 24 }, () => 'too-many'),
  ])
  expect(new Set(loaded).size).toBe(16)
})

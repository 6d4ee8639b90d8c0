// If the paths of a repository do not identify its catalogs, the content of its files does.
import { expect, test } from '@jest/globals'
import { readRepositoryLayout } from '../../src/catalogs/find-layout.ts'
import type { BlobSha } from '../../src/pull-request/ids.ts'
import { GitError } from '../../src/adapters/git/git-error.ts'

const packageYaml = 'schema: olm.package\nname: tern\n'

async function readRepositoryLayoutFromFiles(
  files: Record<string, string>,
  configured: { path: string }[] = [],
) {
  const opened: string[] = []
  const layout = await readRepositoryLayout(
    {
      read: (oid) => {
        opened.push(oid)
        const text = files[oid] ?? ''
        if (text === 'too large') return Promise.reject(new GitError('too-large', 'it is large'))
        if (text === 'gone') return Promise.reject(new GitError('missing', 'it is gone'))
        return Promise.resolve(Buffer.from(text))
      },
    },
    Object.keys(files).map((path) => ({
      path,
      oid: path as BlobSha,
      mode: files[path] === 'link' ? '120000' : '100644',
    })),
    configured,
  )
  return { roots: layout.catalogs.map(({ root }) => root), opened }
}

test('a catalog in an unusual location is found by its packages', async () => {
  const { roots } = await readRepositoryLayoutFromFiles({
    'deploy/olm/index/tern.yaml': packageYaml,
    'deploy/values.yaml': 'a: 1',
    'README.md': 'schema: olm.package',
  })
  expect(roots).toEqual(['deploy/olm/index'])
})

test('a package late in a large JSON file identifies a catalog', async () => {
  const late = `${'{"schema": "olm.bundle", "name": "x"}\n'.repeat(900)}{ "schema" : "olm.package" }`
  expect(
    (await readRepositoryLayoutFromFiles({ 'build/index/tern/catalog.json': late, 'go.mod': 'x' })).roots,
  ).toEqual(['build/index/tern'])
})

test('catalogs inside a source repository are found below any directory', async () => {
  const { roots } = await readRepositoryLayoutFromFiles({
    'olm/catalog/v4.9/tern/catalog.yaml': packageYaml,
    'olm/catalog/v4.20/tern/catalog.yaml': packageYaml,
    'config/crd/bases/tern.yaml': 'kind: CustomResourceDefinition',
  })
  expect(roots).toEqual(['olm/catalog/v4.9', 'olm/catalog/v4.20'])
})

test('a template is not a catalog, even if it contains packages', async () => {
  const template = `schema: olm.template.basic\nentries:\n- ${packageYaml.replaceAll('\n', '\n  ')}`
  expect(
    (await readRepositoryLayoutFromFiles({ 'sources/tern.yaml': template, 'sources/readme.yaml': 'a: 1' }))
      .roots,
  ).toEqual([])
})

test('no file is opened if the paths or the configuration identify the catalogs', async () => {
  expect(await readRepositoryLayoutFromFiles({ 'catalogs/v4.20/tern/catalog.yaml': packageYaml })).toEqual({
    roots: ['catalogs/v4.20'],
    opened: [],
  })
  expect(await readRepositoryLayoutFromFiles({ 'x/tern.yaml': packageYaml }, [{ path: 'y' }])).toEqual({
    roots: ['y'],
    opened: [],
  })
})

test('links and files that are too large are ignored, but an unreadable file is an error', async () => {
  const { roots, opened } = await readRepositoryLayoutFromFiles({
    'a/b.yaml': 'link',
    'c/d.yaml': 'too large',
  })
  expect(roots).toEqual([])
  expect(opened).toEqual(['c/d.yaml'])
  await expect(readRepositoryLayoutFromFiles({ 'c/d.yaml': 'gone' })).rejects.toThrow('it is gone')
})

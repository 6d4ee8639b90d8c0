// The catalog pages: search, long lists, upgrade graphs, and the comparison of two catalogs.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { RecordedPackage } from '../../../src/pull-request/recorded-package.ts'
import {
  fillPagesStore,
  maliciousHtmlText,
  msPerMinute,
  privateRepository,
  publicRepository,
  recordRepositories,
} from './fill-pages-store.ts'
import { startPagesFixture } from './pages-fixture.ts'

const repositoryPath = '/r/coast/operators'
const bigCatalog = { root: 'big', branch: 'release', commit: 'c'.repeat(40), content: 'big', recordedAt: 1 }
const maxPageBytes = 100 * 1024

function createBigPackage(name: string): RecordedPackage {
  const versions = Array.from({ length: 150 }, (_, minor) => `1.${150 - minor}.0`)
  return {
    name,
    description: 'a package with many versions',
    defaultChannel: 'stable',
    owners: ['ann'],
    channels: [{ name: 'stable', entries: versions.length, heads: [`${name}.v1.150.0`], isDefault: true }],
    bundles: versions.map((version) => ({
      name: `${name}.v${version}`,
      version,
      image: `registry.example/${name}:${version}`,
      channels: ['stable'],
    })),
    images: versions.map((version) => ({
      reference: `registry.example/big/${name}@sha256:${version.padEnd(64, '0')}`,
      bundles: [`${name}.v${version}`],
    })),
    graph: {
      name,
      deprecated: false,
      channels: [
        {
          name: 'stable',
          isDefault: true,
          deprecated: false,
          heads: [`${name}.v1.150.0`],
          nodes: versions.map((version) => ({
            name: `${name}.v${version}`,
            version,
            isEntry: true,
            deprecated: false,
            skipped: false,
          })),
          edges: versions
            .slice(1)
            .map((version, at) => ({
              kind: 'replaces' as const,
              from: `${name}.v${version}`,
              to: `${name}.v${versions[at]}`,
            })),
        },
      ],
    },
  }
}

const pagesFixture = await startPagesFixture()
await fillPagesStore(pagesFixture.store)
await pagesFixture.store.recordCatalogs(publicRepository, 'release', [
  {
    catalog: { ...bigCatalog, key: 'big' },
    packages: Array.from({ length: 130 }, (_, at) => createBigPackage(`big-${String(at).padStart(3, '0')}`)),
  },
])
await pagesFixture.store.recordCatalogs(privateRepository, 'main', [
  { catalog: { ...bigCatalog, branch: 'main', key: 'hidden' }, packages: [createBigPackage('hidden-buoy')] },
])
afterAll(() => pagesFixture?.close())
beforeEach(async () => {
  pagesFixture.time.now += msPerMinute
  await recordRepositories(pagesFixture.store, pagesFixture.time.now)
})

async function fetchText(path: string): Promise<string> {
  const reply = await fetch(`${pagesFixture.url}${path}`)
  expect([path, reply.status]).toEqual([path, 200])
  const text = await reply.text()
  expect([path, Buffer.byteLength(text) <= maxPageBytes]).toEqual([path, true])
  return text
}
const fetchJson = async (path: string): Promise<unknown> =>
  (await fetch(`${pagesFixture.url}${path}`, { headers: { accept: 'application/json' } })).json()
const toPlainText = (page: string) => page.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ')

describe('a search', () => {
  test('finds packages, channels, bundles, and images in all catalogs or in one', async () => {
    expect(await fetchJson(`${repositoryPath}/catalog?q=BIG-007.v1.150`)).toMatchObject({
      search: {
        total: 1,
        found: [{ catalog: 'big', name: 'big-007', bundles: { total: 1, names: ['big-007.v1.150.0'] } }],
      },
    })
    const page = toPlainText(await fetchText(`${repositoryPath}/catalog/big?q=registry.example/big/big-00`))
    expect(page).toContain('10 packages contain registry.example/big/big-00')
    expect(page).toMatch(/big-003 .*Images: registry\.example\/big\/big-003@sha256:1\.150.* and 144 more/)
    expect(await fetchText(`${repositoryPath}/catalog/v4.20?q=big-007`)).toContain('Nothing contains')
  })

  test('shows long results page by page, and keeps what was searched', async () => {
    const first = await fetchText(`${repositoryPath}/catalog/big?q=big-`)
    expect(first).toContain('value="big-"')
    expect(first).toContain(`href="${repositoryPath}/catalog/big?q=big-&amp;page=2"`)
    expect(toPlainText(await fetchText(`${repositoryPath}/catalog/big?q=big-&page=9`))).toContain(
      'Page 9 of 9',
    )
    for (const nonsense of [
      'q=&page=1',
      'page=0',
      'page=1e3',
      'q=%00',
      'q=%ff&page=-1',
      `q=${'x'.repeat(5000)}`,
    ])
      await fetchText(`${repositoryPath}/catalog/big?${nonsense}`)
  })

  test('escapes what was searched, and does not cache it for other visitors', async () => {
    const page = await fetchText(`${repositoryPath}/catalog?q=${encodeURIComponent(maliciousHtmlText)}`)
    expect(page).toContain('&lt;script&gt;alert(1)')
    expect(page).not.toMatch(/<script>alert|<img|\u202E/)
    expect(await fetchText(`${repositoryPath}/catalog`)).not.toContain('alert(1)')
  })

  test('finds nothing of a repository that the visitor cannot read', async () => {
    expect(await fetchText(`${repositoryPath}/catalog?q=hidden-buoy`)).toContain('Nothing contains')
    for (const path of ['catalog?q=hidden-buoy', 'catalog/hidden?q=hidden', 'compare?from=hidden&to=hidden'])
      expect([path, (await fetch(`${pagesFixture.url}/r/coast/secret-operators/${path}`)).status]).toEqual([
        path,
        404,
      ])
  })
})

describe('a long list', () => {
  test('of packages has pages, but is complete as JSON', async () => {
    expect(await fetchText(`${repositoryPath}/catalog/big`)).not.toContain('big-100')
    expect(await fetchText(`${repositoryPath}/catalog/big?page=2`)).toContain('big-100')
    const { packages } = (await fetchJson(`${repositoryPath}/catalog/big`)) as { packages: unknown[] }
    expect(packages).toHaveLength(130)
  })

  test('of versions and images is one click away', async () => {
    const path = `${repositoryPath}/catalog/big/big-001`
    const page = await fetchText(path)
    expect(page).toContain(`<a href="${path}?list=versions">All 150 versions</a>`)
    expect(page).not.toContain('big-001.v1.2.0')
    expect(await fetchText(`${path}?list=versions&page=2`)).toContain('big-001.v1.2.0')
    expect(await fetchText(`${path}?list=images&page=2`)).toContain('sha256:1.2.0')
  })

  test('of upgrades is text, next to the drawing', async () => {
    const page = await fetchText(`${repositoryPath}/catalog/big/big-001?channel=stable`)
    expect(page).toContain('<svg role="img"')
    expect(toPlainText(page)).toContain('big-001.v1.150.0: from big-001.v1.149.0')
  })
})

describe('a comparison of two catalogs', () => {
  test('lists the packages that differ, in words', async () => {
    const query = 'from=v4.20&to=v4.21'
    expect(await fetchJson(`${repositoryPath}/compare?${query}`)).toMatchObject({
      before: { key: 'v4.20' },
      after: { key: 'v4.21' },
      total: { added: 1, removed: 1, changed: 1 },
      pages: 1,
    })
    const page = await fetchText(`${repositoryPath}/compare?${query}`)
    expect(toPlainText(page)).toMatch(
      /1 package added, 1 removed, 1 changed.*Default channel: .* → next.*Bundles removed: .*Other changes: description/,
    )
    expect(page).not.toMatch(/<script>alert|<img|\u202E/)
    expect(page).toContain('<option value="v4.20" selected>v4.20</option>')
  })

  test('of the two newest is shown first, and long ones have pages', async () => {
    expect(toPlainText(await fetchText(`${repositoryPath}/compare`))).toContain('From v4.20 to v4.21')
    const page = await fetchText(`${repositoryPath}/compare?from=v4.20&to=big`)
    expect(page).toContain('?from=v4.20&amp;to=big&amp;page=2')
    expect(await fetchText(`${repositoryPath}/compare?from=big&to=big`)).toContain('No package differs')
  })

  test('with a catalog or page that does not exist is not found', async () => {
    for (const query of ['from=v4.20&to=nothing', 'from=%00&to=v4.20', 'from=..', 'page=2'])
      expect((await fetch(`${pagesFixture.url}${repositoryPath}/compare?${query}`)).status).toBe(404)
  })
})

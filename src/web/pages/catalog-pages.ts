// `/r/O/R/catalog...`: a repository's catalogs, their packages, and the details of one package.
import type {
  PackageSummary,
  RecordedBundle,
  RecordedCatalog,
  RecordedPackage,
} from '../../change/recorded-package.ts'
import { drawPackage } from '../../catalog/graph/drawing.ts'
import { drawSvg } from '../../catalog/graph/draw-svg.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { CatalogRow } from '../../ports/page-records.ts'
import { markup, nothing, picture, type Html } from '../html.ts'
import { catalogAddress, catalogsAddress, repositoryAddress } from './addresses.ts'
import { table, type Crumb, type Setting, type StatusPage } from './frame.ts'
import { count, short, time } from './words.ts'

export interface CatalogsModel {
  readonly repository: RepositoryName
  readonly catalogs: readonly CatalogRow[]
}

export interface CatalogModel {
  readonly repository: RepositoryName
  readonly catalog: RecordedCatalog
  readonly packages: readonly PackageSummary[]
}

export interface PackageModel {
  readonly repository: RepositoryName
  readonly catalog: RecordedCatalog
  readonly package: Omit<RecordedPackage, 'images'>
  readonly images: readonly {
    readonly reference: string
    readonly bundles: readonly string[]
    readonly digest?: string
    readonly seenAt?: number
    readonly missing?: string
  }[]
  /** When the last scan of all images ended. */
  readonly scannedAt?: number
}

function crumbsTo(
  repository: RepositoryName,
  catalog?: RecordedCatalog,
  packageName?: string,
): readonly Crumb[] {
  return [
    { words: `${repository.owner}/${repository.name}`, to: repositoryAddress(repository) },
    { words: 'catalogs', to: catalogsAddress(repository) },
    ...(catalog === undefined ? [] : [{ words: catalog.key, to: catalogAddress(repository, catalog.key) }]),
    ...(catalog === undefined || packageName === undefined
      ? []
      : [{ words: packageName, to: catalogAddress(repository, catalog.key, packageName) }]),
  ]
}

export function catalogsPage({ repository, catalogs }: CatalogsModel, { now }: Setting): StatusPage {
  return {
    title: `Catalogs of ${repository.owner}/${repository.name}`,
    crumbs: crumbsTo(repository),
    hasJson: true,
    body: table(
      {
        label: 'Catalogs',
        columns: ['Catalog', 'Folder', 'Branch', '#Packages', '#Versions', '#Stranded', 'As of'],
        empty:
          'No catalog is recorded. The bot records them when it first sees the branch, and with each push.',
      },
      catalogs.map(({ key, root, branch, packages, bundles, stranded, commit, recordedAt }) => [
        markup`<a href="${catalogAddress(repository, key)}">${key}</a>`,
        markup`<code>${root === '' ? '/' : root}</code>`,
        markup`<code>${branch}</code>`,
        packages,
        bundles,
        stranded,
        markup`<code>${short(commit)}</code> ${time(recordedAt, now)}`,
      ]),
    ),
  }
}

export function catalogPage({ repository, catalog, packages }: CatalogModel, { now }: Setting): StatusPage {
  return {
    title: `Catalog ${catalog.key}`,
    crumbs: crumbsTo(repository, catalog),
    hasJson: true,
    body: markup`${asOf(catalog, now)}${table(
      {
        label: 'Packages',
        columns: ['Package', 'Default channel', 'Head', '#Versions', 'Newest', 'Owners', 'Notes'],
        empty: 'This catalog has no package that can be read.',
      },
      packages.map((one) => [
        markup`<a href="${catalogAddress(repository, catalog.key, one.name)}">${one.name}</a>${one.displayName !== undefined && markup`<br /><span class="faint">${one.displayName}</span>`}`,
        one.defaultChannel === '' ? markup`<span class="faint">none</span>` : one.defaultChannel,
        one.heads.join(', '),
        one.versions,
        one.newest ?? markup`<span class="faint">none</span>`,
        one.owners.length === 0 ? markup`<span class="faint">maintainers</span>` : one.owners.join(', '),
        markup`${one.deprecated !== undefined && markup`<span class="unsure">deprecated</span> `}${one.stranded.length > 0 && markup`<span class="bad">${count(one.stranded.length, 'stranded version')}</span>`}`,
      ]),
    )}`,
  }
}

export function packagePage(model: PackageModel, { now }: Setting): StatusPage {
  const { repository, catalog, images, scannedAt } = model
  const { package: its } = model
  return {
    title: its.displayName === undefined ? its.name : `${its.displayName} (${its.name})`,
    crumbs: crumbsTo(repository, catalog, its.name),
    hasJson: true,
    body: markup`${asOf(catalog, now)} ${
      its.deprecated !== undefined &&
      markup`<div class="note bad"><p><strong>This package is deprecated.</strong> ${its.deprecated}</p></div>`
    } ${its.description !== '' && markup`<p>${its.description}</p>`}
<dl>
<dt>Owners</dt><dd>${its.owners.length === 0 ? 'no owner is named: maintainers answer for it' : its.owners.join(', ')}</dd>
<dt>Default channel</dt><dd>${its.defaultChannel === '' ? 'none' : its.defaultChannel}</dd></dl>
<h2>Channels</h2>${table(
      { label: 'Channels', columns: ['Channel', 'Head', '#Entries', 'Notes'], empty: 'It has no channel.' },
      its.channels.map(({ name, heads, entries, isDefault, deprecated }) => [
        name,
        heads.length === 0 ? markup`<span class="bad">none</span>` : heads.join(', '),
        entries,
        markup`${isDefault && 'default '}${deprecated !== undefined && markup`<span class="unsure">deprecated:</span> ${deprecated}`}`,
      ]),
    )}
<h2>Upgrade graph</h2>${its.graph === undefined || its.channels.length === 0 ? markup`<p class="faint">${its.channels.length === 0 ? 'There is nothing to draw.' : 'It has too many edges to draw here. `catalog-bot graph` draws it.'}</p>` : markup`<figure class="scroll" tabindex="0" role="region" aria-label="Upgrade graph">${picture(drawSvg(drawPackage(its.graph)))}</figure>`}
<h2>Versions</h2>${table(
      {
        label: 'Versions',
        columns: ['Version', 'Bundle', 'Channels', 'Notes'],
        empty: 'It has no bundle.',
      },
      its.bundles.map((bundle) => [
        bundle.version === '' ? markup`<span class="faint">unknown</span>` : bundle.version,
        markup`<code>${bundle.name}</code>`,
        bundle.channels.length === 0 ? markup`<span class="faint">none</span>` : bundle.channels.join(', '),
        notes(bundle),
      ]),
    )}
<h2>What new installations get</h2>${installs(its)}
<h2>Images</h2><p class="faint">${scannedAt === undefined ? 'No scan of all images has ended yet.' : markup`All images were last looked for ${time(scannedAt, now)}.`}</p>${table(
      {
        label: 'Images',
        columns: ['Image', 'Digest', 'Last seen', 'Named by'],
        empty: 'It names no image.',
      },
      images.map(({ reference, digest, seenAt, missing, bundles }) => [
        markup`<code>${reference}</code>`,
        digest === undefined ? markup`<span class="faint">not known</span>` : markup`<code>${digest}</code>`,
        markup`${missing !== undefined && markup`<span class="bad">missing:</span> ${missing} `}${seenAt === undefined ? markup`<span class="faint">never by a scan</span>` : time(seenAt, now)}`,
        bundles.length > 3
          ? `${bundles.slice(0, 3).join(', ')} and ${bundles.length - 3} more`
          : bundles.join(', '),
      ]),
    )}`,
  }
}

function notes({ deprecated, isStranded }: RecordedBundle): Html {
  return markup`${deprecated !== undefined && markup`<span class="unsure">deprecated:</span> ${deprecated} `}${isStranded === true && markup`<span class="bad">stranded:</span> no upgrade leads from here to a head`}`
}

/** What the metadata of each channel's head says about where it installs. */
function installs(its: PackageModel['package']): Html {
  const bundles = new Map(its.bundles.map((bundle) => [bundle.name, bundle]))
  return table(
    {
      label: 'What new installations get',
      columns: ['Channel', 'Version', 'Kubernetes', 'Watches namespaces', 'OLM v1'],
      empty: 'Without a channel it cannot be installed.',
    },
    its.channels.flatMap(({ name, heads }) =>
      heads.map((head) => {
        const bundle = bundles.get(head)
        return [
          name,
          bundle?.version ?? head,
          bundle?.minKubeVersion === undefined ? 'any' : `${bundle.minKubeVersion} or newer`,
          bundle?.installModes === undefined
            ? markup`<span class="faint">not said in the catalog</span>`
            : bundle.installModes.join(', ') || 'none',
          bundle?.installModes === undefined
            ? markup`<span class="faint">not said in the catalog</span>`
            : bundle.installModes.includes('AllNamespaces')
              ? 'can install it'
              : 'only with a namespace to watch',
        ]
      }),
    ),
  )
}

function asOf({ commit, branch, root, recordedAt }: RecordedCatalog, now: number): Html {
  return markup`<p class="faint"><code>${root === '' ? '/' : root}</code> on <code>${branch}</code> at <code>${short(commit)}</code>, recorded ${time(recordedAt, now)}</p>${nothing}`
}

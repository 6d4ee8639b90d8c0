// `/r/O/R/catalog...`: a repository's catalogs, their packages, and the details of one package.
import type {
  PackageSummary,
  RecordedBundle,
  RecordedCatalog,
  RecordedPackage,
} from '../../pull-request/recorded-package.ts'
import { drawPackage } from '@catalog-bot/fbc/graph/drawing'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { CatalogTotals } from '../../ports/page-records.ts'
import { markup, emptyHtml, wrapSvg, type Html } from '../html.ts'
import { catalogPageUrl, catalogsPageUrl, repositoryPageUrl } from '../../report/page-urls.ts'
import { renderTable, type Breadcrumb, type PageContext, type StatusPage } from './status-page.ts'
import { formatCount, shortenSha, renderTime } from './page-text.ts'

export interface CatalogsModel {
  readonly repository: RepositoryName
  readonly catalogs: readonly CatalogTotals[]
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

function buildBreadcrumbs(
  repository: RepositoryName,
  catalog?: RecordedCatalog,
  packageName?: string,
): readonly Breadcrumb[] {
  return [
    { label: `${repository.owner}/${repository.name}`, to: repositoryPageUrl(repository) },
    { label: 'catalogs', to: catalogsPageUrl(repository) },
    ...(catalog === undefined ? [] : [{ label: catalog.key, to: catalogPageUrl(repository, catalog.key) }]),
    ...(catalog === undefined || packageName === undefined
      ? []
      : [{ label: packageName, to: catalogPageUrl(repository, catalog.key, packageName) }]),
  ]
}

export function renderCatalogsPage(
  { repository, catalogs }: CatalogsModel,
  { now }: PageContext,
): StatusPage {
  return {
    title: `Catalogs of ${repository.owner}/${repository.name}`,
    crumbs: buildBreadcrumbs(repository),
    hasJson: true,
    body: renderTable(
      {
        label: 'Catalogs',
        columns: ['Catalog', 'Folder', 'Branch', '#Packages', '#Versions', '#Stranded', 'As of'],
        empty:
          'No catalogs are recorded yet. catalog-bot records catalogs when it first reads the branch and after every push.',
      },
      catalogs.map(({ key, root, branch, packages, bundles, stranded, commit, recordedAt }) => [
        markup`<a href="${catalogPageUrl(repository, key)}">${key}</a>`,
        markup`<code>${root === '' ? '/' : root}</code>`,
        markup`<code>${branch}</code>`,
        packages,
        bundles,
        stranded,
        markup`<code>${shortenSha(commit)}</code> ${renderTime(recordedAt, now)}`,
      ]),
    ),
  }
}

export function renderCatalogPage(
  { repository, catalog, packages }: CatalogModel,
  { now }: PageContext,
): StatusPage {
  return {
    title: `Catalog ${catalog.key}`,
    crumbs: buildBreadcrumbs(repository, catalog),
    hasJson: true,
    body: markup`${renderCatalogCommitInfo(catalog, now)}${renderTable(
      {
        label: 'Packages',
        columns: ['Package', 'Default channel', 'Head', '#Versions', 'Newest', 'Owners', 'Notes'],
        empty: 'This catalog has no readable packages.',
      },
      packages.map((one) => [
        markup`<a href="${catalogPageUrl(repository, catalog.key, one.name)}">${one.name}</a>${one.displayName !== undefined && markup`<br /><span class="faint">${one.displayName}</span>`}`,
        one.defaultChannel === '' ? markup`<span class="faint">none</span>` : one.defaultChannel,
        one.heads.join(', '),
        one.versions,
        one.newest ?? markup`<span class="faint">none</span>`,
        one.owners.length === 0 ? markup`<span class="faint">maintainers</span>` : one.owners.join(', '),
        markup`${one.deprecated !== undefined && markup`<span class="unsure">deprecated</span> `}${one.stranded.length > 0 && markup`<span class="bad">${formatCount(one.stranded.length, 'stranded version')}</span>`}`,
      ]),
    )}`,
  }
}

export function renderPackagePage(model: PackageModel, { now }: PageContext): StatusPage {
  const { repository, catalog, images, scannedAt } = model
  const { package: its } = model
  return {
    title: its.displayName === undefined ? its.name : `${its.displayName} (${its.name})`,
    crumbs: buildBreadcrumbs(repository, catalog, its.name),
    hasJson: true,
    body: markup`${renderCatalogCommitInfo(catalog, now)} ${
      its.deprecated !== undefined &&
      markup`<div class="note bad"><p><strong>This package is deprecated.</strong> ${its.deprecated}</p></div>`
    } ${its.description !== '' && markup`<p>${its.description}</p>`}
<dl>
<dt>Owners</dt><dd>${its.owners.length === 0 ? 'No owners are listed, so maintainers are responsible.' : its.owners.join(', ')}</dd>
<dt>Default channel</dt><dd>${its.defaultChannel === '' ? 'none' : its.defaultChannel}</dd></dl>
<h2>Channels</h2>${renderTable(
      {
        label: 'Channels',
        columns: ['Channel', 'Head', '#Entries', 'Notes'],
        empty: 'This package has no channels.',
      },
      its.channels.map(({ name, heads, entries, isDefault, deprecated }) => [
        name,
        heads.length === 0 ? markup`<span class="bad">none</span>` : heads.join(', '),
        entries,
        markup`${isDefault && 'default '}${deprecated !== undefined && markup`<span class="unsure">deprecated:</span> ${deprecated}`}`,
      ]),
    )}
<h2>Upgrade graph</h2>${its.graph === undefined || its.channels.length === 0 ? markup`<p class="faint">${its.channels.length === 0 ? 'This package has no upgrade graph.' : 'The graph has too many edges to show here. Run `catalog-bot graph` to draw it.'}</p>` : markup`<figure class="scroll" tabindex="0" role="region" aria-label="Upgrade graph">${wrapSvg(drawSvg(drawPackage(its.graph)))}</figure>`}
<h2>Versions</h2>${renderTable(
      {
        label: 'Versions',
        columns: ['Version', 'Bundle', 'Channels', 'Notes'],
        empty: 'This package has no bundles.',
      },
      its.bundles.map((bundle) => [
        bundle.version === '' ? markup`<span class="faint">unknown</span>` : bundle.version,
        markup`<code>${bundle.name}</code>`,
        bundle.channels.length === 0 ? markup`<span class="faint">none</span>` : bundle.channels.join(', '),
        renderBundleStatusNotes(bundle),
      ]),
    )}
<h2>What new installations get</h2>${renderInstallModes(its)}
<h2>Images</h2><p class="faint">${scannedAt === undefined ? 'No image scan has finished yet.' : markup`All images were last checked ${renderTime(scannedAt, now)}.`}</p>${renderTable(
      {
        label: 'Images',
        columns: ['Image', 'Digest', 'Last seen', 'Referenced by'],
        empty: 'This package does not reference any images.',
      },
      images.map(({ reference, digest, seenAt, missing, bundles }) => [
        markup`<code>${reference}</code>`,
        digest === undefined ? markup`<span class="faint">unknown</span>` : markup`<code>${digest}</code>`,
        markup`${missing !== undefined && markup`<span class="bad">missing:</span> ${missing} `}${seenAt === undefined ? markup`<span class="faint">not scanned yet</span>` : renderTime(seenAt, now)}`,
        bundles.length > 3
          ? `${bundles.slice(0, 3).join(', ')} and ${bundles.length - 3} more`
          : bundles.join(', '),
      ]),
    )}`,
  }
}

function renderBundleStatusNotes({ deprecated, isStranded }: RecordedBundle): Html {
  return markup`${deprecated !== undefined && markup`<span class="unsure">deprecated:</span> ${deprecated} `}${isStranded === true && markup`<span class="bad">stranded:</span> no upgrade path to a channel head`}`
}

/** What the metadata of each channel's head says about where it installs. */
function renderInstallModes(its: PackageModel['package']): Html {
  const bundles = new Map(its.bundles.map((bundle) => [bundle.name, bundle]))
  return renderTable(
    {
      label: 'What new installations get',
      columns: ['Channel', 'Version', 'Kubernetes', 'Watches namespaces', 'OLM v1'],
      empty: 'This package cannot be installed because it has no channels.',
    },
    its.channels.flatMap(({ name, heads }) =>
      heads.map((head) => {
        const bundle = bundles.get(head)
        return [
          name,
          bundle?.version ?? head,
          bundle?.minKubeVersion === undefined ? 'any' : `${bundle.minKubeVersion} or later`,
          bundle?.installModes === undefined
            ? markup`<span class="faint">not specified in the catalog</span>`
            : bundle.installModes.join(', ') || 'none',
          bundle?.installModes === undefined
            ? markup`<span class="faint">not specified in the catalog</span>`
            : bundle.installModes.includes('AllNamespaces')
              ? 'can be installed'
              : 'requires a namespace to watch',
        ]
      }),
    ),
  )
}

function renderCatalogCommitInfo({ commit, branch, root, recordedAt }: RecordedCatalog, now: number): Html {
  return markup`<p class="faint"><code>${root === '' ? '/' : root}</code> on <code>${branch}</code> at <code>${shortenSha(commit)}</code>, recorded ${renderTime(recordedAt, now)}</p>${emptyHtml}`
}

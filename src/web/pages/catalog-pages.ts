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
import { htmlTemplate, emptyHtml, wrapSvgAsHtml, type Html } from '../html.ts'
import { formatCatalogPageUrl, formatCatalogsPageUrl, formatRepositoryPageUrl } from '../../report/urls.ts'
import { renderTable, formatCountWithNoun, shortenSha, renderTime } from './page-elements.ts'
import type { Breadcrumb, PageRequestContext, StatusPage } from './status-page.ts'

export interface CatalogsPageModel {
  readonly repository: RepositoryName
  readonly catalogs: readonly CatalogTotals[]
}

export interface CatalogPageModel {
  readonly repository: RepositoryName
  readonly catalog: RecordedCatalog
  readonly packages: readonly PackageSummary[]
}

export interface PackagePageModel {
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
    { label: `${repository.owner}/${repository.name}`, to: formatRepositoryPageUrl(repository) },
    { label: 'catalogs', to: formatCatalogsPageUrl(repository) },
    ...(catalog === undefined
      ? []
      : [{ label: catalog.key, to: formatCatalogPageUrl(repository, catalog.key) }]),
    ...(catalog === undefined || packageName === undefined
      ? []
      : [{ label: packageName, to: formatCatalogPageUrl(repository, catalog.key, packageName) }]),
  ]
}

export function renderCatalogsPage(
  { repository, catalogs }: CatalogsPageModel,
  { now }: PageRequestContext,
): StatusPage {
  return {
    title: `Catalogs of ${repository.owner}/${repository.name}`,
    tabs: { repository, current: 'catalogs' },
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
        htmlTemplate`<a href="${formatCatalogPageUrl(repository, key)}">${key}</a>`,
        htmlTemplate`<code>${root === '' ? '/' : root}</code>`,
        htmlTemplate`<code>${branch}</code>`,
        packages,
        bundles,
        stranded,
        htmlTemplate`<code>${shortenSha(commit)}</code> ${renderTime(recordedAt, now)}`,
      ]),
    ),
  }
}

export function renderCatalogPage(
  { repository, catalog, packages }: CatalogPageModel,
  { now }: PageRequestContext,
): StatusPage {
  return {
    title: `Catalog ${catalog.key}`,
    tabs: { repository, current: 'catalogs' },
    crumbs: buildBreadcrumbs(repository, catalog),
    hasJson: true,
    body: htmlTemplate`${renderCatalogCommitInfo(catalog, now)}${renderTable(
      {
        label: 'Packages',
        columns: ['Package', 'Default channel', 'Head', '#Versions', 'Newest', 'Owners', 'Notes'],
        empty: 'This catalog has no readable packages.',
      },
      packages.map((one) => [
        htmlTemplate`<a href="${formatCatalogPageUrl(repository, catalog.key, one.name)}">${one.name}</a>${one.displayName !== undefined && htmlTemplate`<br /><span class="faint">${one.displayName}</span>`}`,
        one.defaultChannel === '' ? htmlTemplate`<span class="faint">none</span>` : one.defaultChannel,
        one.heads.join(', '),
        one.versions,
        one.newest ?? htmlTemplate`<span class="faint">none</span>`,
        one.owners.length === 0
          ? htmlTemplate`<span class="faint">maintainers</span>`
          : one.owners.join(', '),
        htmlTemplate`${one.deprecated !== undefined && htmlTemplate`<span class="unsure">deprecated</span> `}${one.stranded.length > 0 && htmlTemplate`<span class="bad">${formatCountWithNoun(one.stranded.length, 'stranded version')}</span>`}`,
      ]),
    )}`,
  }
}

export function renderPackagePage(model: PackagePageModel, { now }: PageRequestContext): StatusPage {
  const { repository, catalog, images, scannedAt } = model
  const { package: its } = model
  return {
    title: its.displayName === undefined ? its.name : `${its.displayName} (${its.name})`,
    tabs: { repository, current: 'catalogs' },
    crumbs: buildBreadcrumbs(repository, catalog, its.name),
    hasJson: true,
    body: htmlTemplate`${renderCatalogCommitInfo(catalog, now)} ${
      its.deprecated !== undefined &&
      htmlTemplate`<div class="note tone-bad"><p><strong>This package is deprecated.</strong> ${its.deprecated}</p></div>`
    } ${its.description !== '' && htmlTemplate`<p>${its.description}</p>`}
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
        heads.length === 0 ? htmlTemplate`<span class="bad">none</span>` : heads.join(', '),
        entries,
        htmlTemplate`${isDefault && 'default '}${deprecated !== undefined && htmlTemplate`<span class="unsure">deprecated:</span> ${deprecated}`}`,
      ]),
    )}
<h2>Upgrade graph</h2>${its.graph === undefined || its.channels.length === 0 ? htmlTemplate`<p class="faint">${its.channels.length === 0 ? 'This package has no upgrade graph.' : 'The graph has too many edges to show here. Run `catalog-bot graph` to draw it.'}</p>` : htmlTemplate`<figure class="scroll" tabindex="0" role="region" aria-label="Upgrade graph">${wrapSvgAsHtml(drawSvg(drawPackage(its.graph)))}</figure>`}
<h2>Versions</h2>${renderTable(
      {
        label: 'Versions',
        columns: ['Version', 'Bundle', 'Channels', 'Notes'],
        empty: 'This package has no bundles.',
      },
      its.bundles.map((bundle) => [
        bundle.version === '' ? htmlTemplate`<span class="faint">unknown</span>` : bundle.version,
        htmlTemplate`<code>${bundle.name}</code>`,
        bundle.channels.length === 0
          ? htmlTemplate`<span class="faint">none</span>`
          : bundle.channels.join(', '),
        renderBundleStatusNotes(bundle),
      ]),
    )}
<h2>New installations by channel</h2>${renderInstallModes(its)}
<h2>Images</h2><p class="faint">${scannedAt === undefined ? 'No image scan has finished yet.' : htmlTemplate`All images were last checked ${renderTime(scannedAt, now)}.`}</p>${renderPackageImages(images, now)}`,
  }
}

function renderPackageImages(images: PackagePageModel['images'], now: number): Html {
  return renderTable(
    {
      label: 'Images',
      columns: ['Image', 'Digest', 'Last seen', 'Referenced by'],
      empty: 'This package does not reference any images.',
    },
    images.map(({ reference, digest, seenAt, missing, bundles }) => [
      htmlTemplate`<code>${reference}</code>`,
      digest === undefined
        ? htmlTemplate`<span class="faint">unknown</span>`
        : htmlTemplate`<code>${digest}</code>`,
      htmlTemplate`${missing !== undefined && htmlTemplate`<span class="bad">missing:</span> ${missing} `}${seenAt === undefined ? htmlTemplate`<span class="faint">not scanned yet</span>` : renderTime(seenAt, now)}`,
      bundles.length > 3
        ? `${bundles.slice(0, 3).join(', ')} and ${bundles.length - 3} more`
        : bundles.join(', '),
    ]),
  )
}

function renderBundleStatusNotes({ deprecated, isStranded }: RecordedBundle): Html {
  return htmlTemplate`${deprecated !== undefined && htmlTemplate`<span class="unsure">deprecated:</span> ${deprecated} `}${isStranded === true && htmlTemplate`<span class="bad">stranded:</span> no upgrade path to a channel head`}`
}

/** What the metadata of each channel's head says about where it installs. */
function renderInstallModes(its: PackagePageModel['package']): Html {
  const bundles = new Map(its.bundles.map((bundle) => [bundle.name, bundle]))
  return renderTable(
    {
      label: 'New installations by channel',
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
            ? htmlTemplate`<span class="faint">not specified in the catalog</span>`
            : bundle.installModes.join(', ') || 'none',
          bundle?.installModes === undefined
            ? htmlTemplate`<span class="faint">not specified in the catalog</span>`
            : bundle.installModes.includes('AllNamespaces')
              ? 'can be installed'
              : 'requires a namespace to watch',
        ]
      }),
    ),
  )
}

function renderCatalogCommitInfo({ commit, branch, root, recordedAt }: RecordedCatalog, now: number): Html {
  return htmlTemplate`<p class="faint"><code>${root === '' ? '/' : root}</code> on <code>${branch}</code> at <code>${shortenSha(commit)}</code>, recorded ${renderTime(recordedAt, now)}</p>${emptyHtml}`
}

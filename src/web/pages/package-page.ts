// `/r/O/R/catalog/C/P`: the channels, upgrade graph, versions, and images of a package.
import { drawPackage } from '@catalog-bot/fbc/graph/drawing'
import { drawSvg } from '@catalog-bot/fbc/graph/draw-svg'
import type { ChannelGraph } from '@catalog-bot/fbc/graph/package-graph'
import { formatTruncatedNames } from '../../checks/validation/names.ts'
import type { RecordedBundle, RecordedCatalog, RecordedPackage } from '../../pull-request/recorded-package.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { htmlTemplate, wrapSvgAsHtml, type Html } from '../html.ts'
import {
  buildCatalogBreadcrumbs,
  maxShownNames,
  renderCatalogCommitInfo,
  renderFaint,
  rowsPerPage,
  type CatalogListView,
} from './catalog-pages.ts'
import {
  formatCountWithNoun,
  renderEmptyState,
  renderFacts,
  renderFold,
  renderLabel,
  renderNote,
  renderPagination,
  renderPath,
  renderRelativeTime,
  renderTable,
  renderTime,
} from './page-elements.ts'
import type { PageRequestContext, StatusPage } from './status-page.ts'

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

/** Rows of a list among others. */
const rowsPerSection = 20
const maxGraphCharacters = 40_000
const maxListedUpgradePaths = 60

export function renderPackagePage(
  model: PackagePageModel,
  { path, now }: PageRequestContext,
  view: CatalogListView,
): StatusPage {
  const { repository, catalog } = model
  const { package: its } = model
  const frame = {
    title: its.displayName === undefined ? its.name : `${its.displayName} (${its.name})`,
    tabs: { repository, current: 'catalogs' },
    crumbs: buildCatalogBreadcrumbs(repository, catalog, its.name),
    hasJson: true,
  } as const
  const sections = [
    createSection('channels', 'Channels', its.channels, (rows) => renderChannels(rows, path)),
    createSection('versions', 'Versions', its.bundles, renderVersions),
    createSection('images', 'Images', model.images, (rows) => renderPackageImages(rows, now)),
  ]
  const listed = sections.find(({ list }) => list === view.list)
  if (listed !== undefined)
    return {
      ...frame,
      body: htmlTemplate`<p><a href="${path}">Package overview</a></p><h2>${listed.heading} <span class="faint">${listed.total}</span></h2>${listed.renderRows((view.page - 1) * rowsPerPage, view.page * rowsPerPage)}${renderPagination(path, { list: listed.list }, view.page, Math.ceil(listed.total / rowsPerPage))}`,
    }
  const [channels, versions, images] = sections.map((section) => renderSection(section, path))
  return {
    ...frame,
    body: htmlTemplate`${renderCatalogCommitInfo(catalog, now)} ${
      its.deprecated !== undefined &&
      renderNote('bad', htmlTemplate`<p><strong>This package is deprecated.</strong> ${its.deprecated}</p>`)
    } ${its.description !== '' && htmlTemplate`<p>${its.description}</p>`}
${renderFacts([
  [
    'Owners',
    its.owners.length === 0
      ? 'No owners are listed, so maintainers of the repository are responsible for this package.'
      : its.owners.join(', '),
  ],
  ['Default channel', its.defaultChannel === '' ? 'none' : its.defaultChannel],
])}${channels}
<h2 id="graph">Upgrade graph</h2>${renderUpgradeGraph(its, view.channel)}${versions}
<h2>New installations by channel</h2>${renderInstallModes(its)}${images}${renderScanTime(model, now)}`,
  }
}

const renderScanTime = ({ scannedAt }: PackagePageModel, now: number): Html =>
  htmlTemplate`<p class="faint">${scannedAt === undefined ? 'No image scan has finished yet.' : htmlTemplate`All images were last checked ${renderTime(scannedAt, now)}.`}</p>`

/** A list of a package that can be shown in part or in full. */
interface PackageSection {
  readonly list: NonNullable<CatalogListView['list']>
  readonly heading: string
  readonly total: number
  readonly renderRows: (from: number, to: number) => Html
}

const createSection = <Row>(
  list: PackageSection['list'],
  heading: string,
  rows: readonly Row[],
  render: (rows: readonly Row[]) => Html,
): PackageSection => ({
  list,
  heading,
  total: rows.length,
  renderRows: (from, to) => render(rows.slice(from, to)),
})

function renderSection({ list, heading, total, renderRows }: PackageSection, path: string): Html {
  return htmlTemplate`
<h2>${heading}</h2>${renderRows(0, rowsPerSection)}${total > rowsPerSection && htmlTemplate`<p><a href="${path}?list=${list}">All ${formatCountWithNoun(total, list.slice(0, -1))}</a></p>`}`
}

function renderChannels(channels: RecordedPackage['channels'], path: string): Html {
  return renderTable(
    {
      label: 'Channels',
      columns: ['Channel', 'Head', '#Entries', 'Notes'],
      empty: 'This package has no channels.',
    },
    channels.map(({ name, heads, entries, isDefault, deprecated }) => [
      htmlTemplate`<a href="${path}?${String(new URLSearchParams({ channel: name }))}#graph">${name}</a>`,
      heads.length === 0
        ? htmlTemplate`<span class="bad">none</span>`
        : formatTruncatedNames(heads, maxShownNames),
      entries,
      htmlTemplate`${isDefault && 'default '}${deprecated !== undefined && htmlTemplate`<span class="unsure">deprecated:</span> ${deprecated}`}`,
    ]),
  )
}

function renderVersions(bundles: RecordedPackage['bundles']): Html {
  return renderTable(
    {
      label: 'Versions',
      isStacked: true,
      columns: ['Version', 'Bundle', 'Channels', 'Notes'],
      empty: 'This package has no bundles.',
    },
    bundles.map((bundle) => [
      bundle.version === '' ? renderFaint('unknown') : bundle.version,
      htmlTemplate`<code>${bundle.name}</code>`,
      bundle.channels.length === 0
        ? renderFaint('none')
        : formatTruncatedNames(bundle.channels, maxShownNames),
      renderBundleStatusNotes(bundle),
    ]),
  )
}

/** All channels if they fit on the page, otherwise one. */
function renderUpgradeGraph(its: PackagePageModel['package'], channel: string | undefined): Html {
  const { graph, channels } = its
  if (channels.length === 0) return renderEmptyState('This package has no upgrade graph.')
  const chosen =
    graph?.channels.find(({ name }) => name === channel) ??
    graph?.channels.find(({ isDefault }) => isDefault) ??
    graph?.channels[0]
  if (graph === undefined || chosen === undefined)
    return renderEmptyState('The graph has too many edges to show here. Run `catalog-bot graph` to draw it.')
  const all = channel === undefined ? drawSvg(drawPackage(graph)) : undefined
  const svg =
    all !== undefined && all.length <= maxGraphCharacters
      ? all
      : drawSvg(drawPackage({ ...graph, channels: [chosen] }))
  return htmlTemplate`${svg !== all && htmlTemplate`<p>Channel <code>${chosen.name}</code>. To see another one, select it in the list of channels.</p>`}${
    svg.length > maxGraphCharacters
      ? renderEmptyState('The graph of this channel is too large to draw here.')
      : htmlTemplate`<figure class="scroll graph" tabindex="0" role="region" aria-label="Upgrade graph">${wrapSvgAsHtml(svg)}</figure>`
  }${renderFold('upgrades', htmlTemplate`Upgrades in channel <code>${chosen.name}</code> as a list`, renderUpgradeList(chosen))}`
}

function renderUpgradeList({ nodes, edges }: ChannelGraph): Html {
  const edgesByTarget = Map.groupBy(edges, ({ to }) => to)
  const entries = nodes.filter(({ isEntry }) => isEntry)
  const shown = entries.slice(0, maxListedUpgradePaths)
  return htmlTemplate`<ul>${shown.map(({ name, skipRange }) => {
    const sources = [...new Set((edgesByTarget.get(name) ?? []).map(({ from }) => from))]
    return htmlTemplate`<li><code>${name}</code>: ${sources.length === 0 ? 'no upgrades to it' : `from ${formatTruncatedNames(sources, maxShownNames)}`}${skipRange !== undefined && htmlTemplate`, range <code>${skipRange}</code>`}</li>`
  })}</ul>${entries.length > shown.length && renderFaint(`The newest ${shown.length} entries.`)}`
}

function renderPackageImages(images: PackagePageModel['images'], now: number): Html {
  return renderTable(
    {
      label: 'Images',
      isStacked: true,
      columns: ['Image', 'Last check', 'Digest', 'Referenced by'],
      empty: 'This package does not reference any images.',
    },
    images.map(({ reference, digest, seenAt, missing, bundles }) => [
      renderPath(reference),
      missing !== undefined
        ? htmlTemplate`${renderLabel('bad', 'missing')} ${missing}`
        : seenAt === undefined
          ? renderFaint('not scanned yet')
          : htmlTemplate`${renderLabel('good', 'found')} ${renderRelativeTime(seenAt, now)}`,
      digest === undefined
        ? renderFaint('unknown digest')
        : htmlTemplate`<code title="${digest}">${digest.slice(0, 19)}</code>`,
      formatTruncatedNames(bundles, 3),
    ]),
  )
}

function renderBundleStatusNotes({ deprecated, isStranded }: RecordedBundle): Html {
  return htmlTemplate`${deprecated !== undefined && htmlTemplate`<span class="unsure">deprecated:</span> ${deprecated} `}${isStranded === true && htmlTemplate`<span class="bad">stranded:</span> no upgrade path to a channel head`}`
}

/** Where each channel's head can be installed, according to its metadata. */
function renderInstallModes(its: PackagePageModel['package']): Html {
  const bundles = new Map(its.bundles.map((bundle) => [bundle.name, bundle]))
  return renderTable(
    {
      label: 'New installations by channel',
      columns: ['Channel', 'Version', 'Kubernetes', 'Watches namespaces', 'OLM v1'],
      empty: 'This package cannot be installed because it has no channels.',
    },
    its.channels.slice(0, rowsPerSection).flatMap(({ name, heads }) =>
      heads.map((head) => {
        const bundle = bundles.get(head)
        return [
          name,
          bundle?.version ?? head,
          bundle?.minKubeVersion === undefined ? 'any' : `${bundle.minKubeVersion} or later`,
          bundle?.installModes === undefined
            ? renderFaint('not specified in the catalog')
            : bundle.installModes.join(', ') || 'none',
          bundle?.installModes === undefined
            ? renderFaint('not specified in the catalog')
            : bundle.installModes.includes('AllNamespaces')
              ? 'can be installed'
              : 'requires a namespace to watch',
        ]
      }),
    ),
  )
}

// A catalog image's publication as a check run, comment lines, and the description of a deployment.
import { formatCountWithNoun } from '@catalog-bot/findings/printable'
import { toCodeSpan, toTableCodeSpan, toSingleLineText, escapeMarkdown, truncateText } from './escape.ts'
import { createReportedCheck, type ReportedCheck } from './report-options.ts'
import { configPath } from '../config/config-path.ts'

export type CatalogRebuildState =
  | { readonly kind: 'announced' }
  /** A newer push arrived before the dispatch, and its rebuild includes this one. */
  | { readonly kind: 'superseded'; readonly by: string }
  | { readonly kind: 'running'; readonly url?: string }
  | { readonly kind: 'succeeded' | 'failed'; readonly url?: string }
  /** A webhook accepted the request. No outcome follows. */
  | { readonly kind: 'received' }
  | { readonly kind: 'retrying'; readonly why: string }
  /** Dispatched, but GitHub does not report the outcome. */
  | { readonly kind: 'no-outcome' }
  | { readonly kind: 'not-dispatched'; readonly why: string }

export interface PreviewImageView {
  readonly root: string
  readonly image: string
  readonly tag: string
  /** `until`: a date such as 2026-11-30. */
  readonly state:
    | { readonly kind: 'published'; readonly digest: string; readonly until: string }
    | { readonly kind: 'failed'; readonly why: string; readonly again: boolean }
    | { readonly kind: 'removed' }
}

export interface PublishedImageView {
  /** Directory of the catalog, or '' for the repository root. */
  readonly root: string
  /** `quay.io/org/catalog`. */
  readonly image: string
  readonly tags: readonly string[]
  readonly state: PublicationView
}

export type PublicationView =
  | { readonly kind: 'building' }
  /** A newer commit arrived before the build started. */
  | { readonly kind: 'superseded'; readonly by: string }
  | {
      readonly kind: 'published'
      readonly digest: string
      readonly unchanged: boolean
      readonly seconds: number
      readonly size?: number | undefined
      readonly packages?: number | undefined
      readonly bundles?: number | undefined
      /** The same catalog was built on a new base image. */
      readonly rebased?: boolean | undefined
      /** Why the image has no provenance. */
      readonly unattested?: string | undefined
      /** Tags that were moved outside catalog-bot. */
      readonly moved: readonly { readonly tag: string; readonly to: string }[]
      /** Markdown lines made by describe-change.ts. */
      readonly changeLines: readonly string[]
    }
  | { readonly kind: 'rolled-back'; readonly digest: string; readonly login: string }
  /** `isLasting`: failed so often that a user should investigate. Attempts are no longer counted. */
  | { readonly kind: 'failed'; readonly why: string; readonly attempts: number; readonly isLasting: boolean }
  | { readonly kind: 'refused'; readonly why: string }

/** `notes`: trusted sentences for maintainers. */
export function renderPublishCheck(
  views: readonly PublishedImageView[],
  notes: readonly string[] = [],
): ReportedCheck {
  const states = views.map(({ state }) => state)
  const summary = truncateText([...views.map(describePublishedImage), ...notes].join('\n\n'))
  const report = (state: Parameters<typeof createReportedCheck>[1], title: string) =>
    createReportedCheck('publish', state, title, summary)
  const broken = states.filter((state) => isPermanentPublicationFailure(state)).length
  if (broken > 0)
    return report(
      'failure',
      broken === 1 ? 'An image was not published' : `${broken} images were not published`,
    )
  if (states.some(({ kind }) => kind === 'failed'))
    return report('in_progress', 'Waiting for a registry; catalog-bot retries automatically')
  if (states.some(({ kind }) => kind === 'building')) return report('in_progress', 'Publishing')
  if (states.length > 0 && states.every(({ kind }) => kind === 'superseded'))
    return report('neutral', 'Included in the images of a newer commit')
  return report('success', formatPublishCheckTitle(states))
}

function formatPublishCheckTitle(states: readonly PublicationView[]): string {
  if (states.every((state) => state.kind === 'rolled-back')) return 'Rolled back'
  const changed = states.filter((state) => !(state.kind === 'published' && state.unchanged)).length
  if (changed === 0) return 'Published: the images are unchanged'
  return `Published ${changed} ${changed === 1 ? 'image' : 'images'}`
}

function isPermanentPublicationFailure(state: PublicationView): boolean {
  return state.kind === 'refused' || (state.kind === 'failed' && state.isLasting)
}

function describePublishedImage(view: PublishedImageView): string {
  const { root, image, tags, state } = view
  const heading = `**${toCodeSpan(root === '' ? '.' : root)}** → ${tags.map((tag) => toCodeSpan(`${image}:${tag}`)).join(', ')}`
  if (state.kind !== 'published') return `${heading}\n\n${formatPublicationStatus(state)}`
  const facts = [
    ['digest', toCodeSpan(state.digest)],
    ...(state.size === undefined ? [] : [['layer', formatByteSize(state.size)]]),
    ...(state.packages === undefined
      ? []
      : [
          [
            'contents',
            `${formatCountWithNoun(state.packages, 'package')}${state.bundles === undefined ? '' : `, ${formatCountWithNoun(state.bundles, 'bundle')}`}`,
          ],
        ]),
    ['time', `${state.seconds.toFixed(1)} s`],
  ]
  const table = ['| | |', '|---|---|', ...facts.map(([name, value]) => `| ${name} | ${value} |`)].join('\n')
  return [
    heading,
    formatPublicationStatus(state),
    table,
    ...(state.changeLines.length > 0
      ? [['What changes for users:', '', ...state.changeLines].join('\n')]
      : []),
  ].join('\n\n')
}

function formatPublicationStatus(state: PublicationView): string {
  switch (state.kind) {
    case 'building':
      return 'The image is being built and pushed.'
    case 'superseded':
      return `A newer commit arrived before the image for this commit was published. The image for ${toCodeSpan(state.by.slice(0, 12))} includes this change.`
    case 'published': {
      const moved = state.moved.map(
        ({ tag, to }) =>
          ` The tag ${toCodeSpan(tag)} had been moved to ${toCodeSpan(to)} outside of catalog-bot. catalog-bot has set the tag again.`,
      )
      const missed =
        state.unattested === undefined
          ? ''
          : ` catalog-bot could not attach the provenance: ${escapeMarkdown(state.unattested)}.`
      const also = `${moved.join('')}${missed}`
      if (state.unchanged) return `The tags already point to this content.${also}`
      const result =
        state.rebased === true ? 'The same catalog was published on the new base image' : 'Published'
      return `${result}. catalog-bot verified that the image in the registry matches the catalog in Git.${also}`
    }
    case 'rolled-back':
      return `${toCodeSpan(state.login)} rolled the image back to ${toCodeSpan(state.digest)}. The rollback remains in effect until the catalog changes.`
    case 'failed':
      return `**Not published**: ${escapeMarkdown(state.why)}. ${state.isLasting ? '' : `Attempts so far: ${state.attempts}. `}catalog-bot retries automatically.`
    case 'refused':
      return `**Not published**: ${escapeMarkdown(state.why)}.`
  }
}

/** A line per image. */
export function formatPublishedImageLines(views: readonly PublishedImageView[]): readonly string[] {
  return views.map(({ image, tags, state }) => {
    const where = tags.map((tag) => toCodeSpan(`${image}:${tag}`)).join(', ')
    if (state.kind === 'published') return `- ✅ ${where}: published as ${toCodeSpan(state.digest)}`
    if (state.kind === 'building') return `- 🔄 ${where}: publishing`
    const mark = isPermanentPublicationFailure(state) ? '❌' : state.kind === 'failed' ? '🔄' : 'ℹ️'
    return `- ${mark} ${where}: ${formatPublicationStatus(state)}`
  })
}

export function summarizePublicationStatus(
  views: readonly PublishedImageView[],
): 'published' | 'pending' | 'failed' {
  if (views.some(({ state }) => isPermanentPublicationFailure(state))) return 'failed'
  return views.some(({ state }) => state.kind === 'building' || state.kind === 'failed')
    ? 'pending'
    : 'published'
}

/** GitHub's limit for the description of a deployment status, in characters. */
const maxDeploymentDescriptionLength = 140

export function formatDeploymentDescription(state: PublicationView): string {
  switch (state.kind) {
    case 'published':
      return `${state.unchanged ? 'Unchanged' : 'Published'}: ${state.digest}`
    case 'rolled-back':
      return `Rolled back to ${state.digest}`
    case 'building':
      return 'Building and pushing'
    case 'superseded':
      return 'Included in the image of a newer commit'
    case 'failed':
    case 'refused':
      return toSingleLineText(`Not published: ${state.why}`, maxDeploymentDescriptionLength)
  }
}

export function formatImageTagsTableCell({ image, tags }: Pick<PublishedImageView, 'image' | 'tags'>) {
  return tags.map((tag) => toTableCodeSpan(`${image}:${tag}`)).join(', ')
}

function formatByteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** The check run for preview images. It never fails, because no merge depends on a preview. */
export function renderPreviewCheck(previews: readonly PreviewImageView[]): ReportedCheck {
  const failed = previews.some(({ state }) => state.kind === 'failed')
  const areAllRemoved = previews.every(({ state }) => state.kind === 'removed')
  const title = failed
    ? 'catalog-bot could not publish a preview image'
    : areAllRemoved
      ? 'Preview images removed'
      : formatCountWithNoun(previews.length, 'preview image')
  const summary = truncateText(previews.map(describePreviewImage).join('\n\n'))
  return createReportedCheck('preview', 'neutral', title, summary)
}

function describePreviewImage({ root, image, tag, state }: PreviewImageView): string {
  const heading = `**${toCodeSpan(root === '' ? '.' : root)}** → ${toCodeSpan(`${image}:${tag}`)}`
  switch (state.kind) {
    case 'published':
      return `${heading}\n\nTo test the catalog as it would be after the merge, use ${toCodeSpan(`${image}@${state.digest}`)}. catalog-bot removes this image when the pull request is closed, or on ${state.until} at the latest.`
    case 'failed':
      return `${heading}\n\nNot published: ${escapeMarkdown(state.why)}.${state.again ? ' catalog-bot retries automatically.' : ''}`
    case 'removed':
      return `${heading}\n\nRemoved.`
  }
}

export function renderCatalogRebuildCheck(
  catalogs: readonly string[],
  state: CatalogRebuildState,
): ReportedCheck {
  const catalogsLine = `Changed catalogs: ${catalogs.map((root) => toCodeSpan(root === '' ? '.' : root)).join(', ')}.`
  const link =
    'url' in state && state.url !== undefined && /^https?:\/\/[^\s()<>]+$/.test(state.url)
      ? ` [Run](${state.url}).`
      : ''
  const report = (state: Parameters<typeof createReportedCheck>[1], title: string, more = '') =>
    createReportedCheck('rebuild', state, title, `${catalogsLine}${more}`)
  switch (state.kind) {
    case 'announced':
      return report('queued', 'Rebuild requested')
    case 'running':
      return report('in_progress', 'Rebuilding', link)
    case 'superseded':
      return report(
        'neutral',
        'Included in the rebuild of a newer commit',
        ` The rebuild of ${toCodeSpan(state.by.slice(0, 12))} includes these catalogs.`,
      )
    case 'succeeded':
      return report('success', 'Rebuilt', link)
    case 'failed':
      return report('failure', 'The rebuild failed', link)
    case 'no-outcome':
      return report(
        'neutral',
        'Rebuild requested; result unknown',
        ' GitHub does not show a workflow run for this commit. Check that the App has the "Actions: read" permission, and that the workflow runs on this commit.',
      )
    case 'received':
      return report(
        'neutral',
        'Rebuild requested; result unknown',
        ' The webhook accepted the request but does not report the result of the build.',
      )
    case 'retrying':
      return report(
        'in_progress',
        'The webhook does not respond; catalog-bot retries automatically',
        ` ${escapeMarkdown(state.why)}.`,
      )
    case 'not-dispatched':
      return report(
        'failure',
        'catalog-bot could not request the rebuild',
        ` ${escapeMarkdown(state.why)}. Check ${toCodeSpan('rebuild')} in ${toCodeSpan(configPath)} and the App's permissions (Contents: write, and Actions: write for ${toCodeSpan('rebuild.workflow')}).`,
      )
  }
}

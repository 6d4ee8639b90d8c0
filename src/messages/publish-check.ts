// Renders the publication of a catalog image as a check run, lines for a merged pull request's comment, and a
// deployment's description.
import { toCodeSpan, toTableCodeSpan, toOneLine, escapeMarkdown } from './escape.ts'
import { checkNamePrefix, type ReportedCheck } from './report.ts'

export interface PublishedImageView {
  /** Directory of the catalog; '' for the repository itself. */
  readonly root: string
  /** `quay.io/org/catalog`. */
  readonly image: string
  readonly tags: readonly string[]
  readonly state: PublicationView
}

export type PublicationView =
  | { readonly kind: 'building' }
  /** A newer commit arrived before the build. */
  | { readonly kind: 'superseded'; readonly by: string }
  | {
      readonly kind: 'published'
      readonly digest: string
      readonly unchanged: boolean
      readonly seconds: number
      readonly size?: number | undefined
      readonly packages?: number | undefined
      readonly bundles?: number | undefined
      /** Built on a new base image with the same catalog. */
      readonly rebased?: boolean | undefined
      /** Why the image has no provenance. */
      readonly unattested?: string | undefined
      /** Tags that others moved since the bot set them. */
      readonly moved: readonly { readonly tag: string; readonly to: string }[]
      /** Markdown lines made by describe-change.ts. */
      readonly changeLines: readonly string[]
    }
  | { readonly kind: 'rolled-back'; readonly digest: string; readonly login: string }
  /** `isLasting`: failed often enough that people should look; attempts are no longer counted. */
  | { readonly kind: 'failed'; readonly why: string; readonly attempts: number; readonly isLasting: boolean }
  | { readonly kind: 'refused'; readonly why: string }

const publishCheckName = `${checkNamePrefix}publish`

/** `notes`: sentences of our own for maintainers. */
export function renderPublishCheck(
  views: readonly PublishedImageView[],
  notes: readonly string[] = [],
): ReportedCheck {
  const states = views.map(({ state }) => state)
  const summary = [...views.map(describePublishedImage), ...notes].join('\n\n').slice(0, 60_000)
  const base = { name: publishCheckName, annotations: [], summary }
  const broken = states.filter((state) => isFailedPublication(state)).length
  if (broken > 0)
    return {
      ...base,
      status: 'completed',
      conclusion: 'failure',
      title: broken === 1 ? 'An image is not published' : `${broken} images are not published`,
    }
  const failing = states.some(({ kind }) => kind === 'failed')
  if (failing)
    return {
      ...base,
      status: 'in_progress',
      title: 'Waiting for a registry; retried automatically',
    }
  if (states.some(({ kind }) => kind === 'building'))
    return { ...base, status: 'in_progress', title: 'Publishing' }
  if (states.length > 0 && states.every(({ kind }) => kind === 'superseded'))
    return {
      ...base,
      status: 'completed',
      conclusion: 'neutral',
      title: 'Included in the images of a newer commit',
    }
  return { ...base, status: 'completed', conclusion: 'success', title: formatCheckTitle(states) }
}

function formatCheckTitle(states: readonly PublicationView[]): string {
  if (states.every((state) => state.kind === 'rolled-back')) return 'Rolled back'
  const changed = states.filter((state) => !(state.kind === 'published' && state.unchanged)).length
  if (changed === 0) return 'Published: the images are unchanged'
  return `Published ${changed} ${changed === 1 ? 'image' : 'images'}`
}

function isFailedPublication(state: PublicationView): boolean {
  return state.kind === 'refused' || (state.kind === 'failed' && state.isLasting)
}

function describePublishedImage(view: PublishedImageView): string {
  const { root, image, tags, state } = view
  const heading = `**${toCodeSpan(root === '' ? '.' : root)}** → ${tags.map((tag) => toCodeSpan(`${image}:${tag}`)).join(', ')}`
  if (state.kind !== 'published') return `${heading}\n\n${formatPublication(state)}`
  const facts = [
    ['digest', toCodeSpan(state.digest)],
    ...(state.size === undefined ? [] : [['layer', formatSize(state.size)]]),
    ...(state.packages === undefined
      ? []
      : [
          [
            'contents',
            `${formatCount(state.packages, 'package')}${state.bundles === undefined ? '' : `, ${formatCount(state.bundles, 'bundle')}`}`,
          ],
        ]),
    ['time', `${state.seconds.toFixed(1)} s`],
  ]
  const table = ['| | |', '|---|---|', ...facts.map(([name, value]) => `| ${name} | ${value} |`)].join('\n')
  return [
    heading,
    formatPublication(state),
    table,
    ...(state.changeLines.length > 0
      ? [['What changes for users:', '', ...state.changeLines].join('\n')]
      : []),
  ].join('\n\n')
}

function formatPublication(state: PublicationView): string {
  switch (state.kind) {
    case 'building':
      return 'The image is being built and pushed.'
    case 'superseded':
      return `A newer commit came before it was built: the image of ${toCodeSpan(state.by.slice(0, 12))} includes this one.`
    case 'published': {
      const moved = state.moved.map(
        ({ tag, to }) =>
          ` Somebody else had moved the tag ${toCodeSpan(tag)} to ${toCodeSpan(to)} since the bot set it; it is set again.`,
      )
      const missed =
        state.unattested === undefined
          ? ''
          : ` Its provenance could not be put beside it: ${escapeMarkdown(state.unattested)}.`
      const also = `${moved.join('')}${missed}`
      if (state.unchanged) return `The tags have this content already.${also}`
      const result = state.rebased === true ? 'The same catalog was put on the new base image' : 'Published'
      return `${result}. The bot read the image back: it is the catalog in git.${also}`
    }
    case 'rolled-back':
      return `${toCodeSpan(state.login)} rolled it back to ${toCodeSpan(state.digest)}. It stays so until the catalog changes.`
    case 'failed':
      return `**Not published**: ${escapeMarkdown(state.why)}. ${state.isLasting ? 'The' : `Tried ${state.attempts === 1 ? 'once' : `${state.attempts} times`}; the`} bot goes on trying.`
    case 'refused':
      return `**Not published**: ${escapeMarkdown(state.why)}.`
  }
}

/** A line per image. */
export function formatPublishedLines(views: readonly PublishedImageView[]): readonly string[] {
  return views.map(({ image, tags, state }) => {
    const where = tags.map((tag) => toCodeSpan(`${image}:${tag}`)).join(', ')
    if (state.kind === 'published') return `- ✅ ${where} is ${toCodeSpan(state.digest)}`
    if (state.kind === 'building') return `- 🔄 ${where}: being published`
    const mark = isFailedPublication(state) ? '❌' : state.kind === 'failed' ? '🔄' : 'ℹ️'
    return `- ${mark} ${where}: ${formatPublication(state)}`
  })
}

export function summarizePublication(
  views: readonly PublishedImageView[],
): 'published' | 'pending' | 'failed' {
  if (views.some(({ state }) => isFailedPublication(state))) return 'failed'
  return views.some(({ state }) => state.kind === 'building' || state.kind === 'failed')
    ? 'pending'
    : 'published'
}

/** GitHub's limit for the description of a deployment status, in characters. */
const maxDescriptionLength = 140

export function formatDeploymentDescription(state: PublicationView): string {
  switch (state.kind) {
    case 'published':
      return `${state.unchanged ? 'Unchanged' : 'Published'}: ${state.digest}`
    case 'rolled-back':
      return `Rolled back to ${state.digest}`
    case 'building':
      return 'Being built and pushed'
    case 'superseded':
      return 'Included in the image of a newer commit'
    case 'failed':
    case 'refused':
      return toOneLine(`Not published: ${state.why}`, maxDescriptionLength)
  }
}

export function formatImageCell({ image, tags }: Pick<PublishedImageView, 'image' | 'tags'>): string {
  return tags.map((tag) => toTableCodeSpan(`${image}:${tag}`)).join(', ')
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function formatCount(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

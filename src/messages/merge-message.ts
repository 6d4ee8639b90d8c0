// The merge commit's message. It depends only on snapshot and configuration, so that the commit's id is reproducible.
// Removes words that GitHub or CI systems act on.
import type { Snapshot } from '../change/snapshot.ts'
import type { Override } from '../gate/overrides.ts'
import {
  messagePlaceholder,
  type MergeMessageTemplate,
  type MessagePlaceholder,
} from '../config/merge-message.ts'
import { commitTitle } from './escape.ts'

/** `overrides`: rules that a maintainer overrode. */
export function mergeMessage(
  snapshot: Snapshot,
  template: MergeMessageTemplate = {},
  overrides: readonly Override[] = [],
): string {
  const fill = filler(snapshot)
  const title = template.title === undefined ? '' : fill(template.title)
  const lines = (template.body ?? '').split(/\r\n|\r|\n/).map(fill)
  return [
    title === '' ? usualTitle(snapshot) : title,
    ...paragraph(lines),
    ...overrides.map(sayOverride),
    `Head: ${snapshot.head}`,
  ]
    .join('\n\n')
    .concat('\n')
}

function sayOverride({ rule, by, reason }: Override): string {
  return commitTitle(`Overridden by ${by}: ${rule}, because ${reason}`, longestLine)
}

function usualTitle({ pull, title }: Snapshot): string {
  const words = commitTitle(title)
  return `Merge pull request ${pull}${words === '' ? '' : `: ${words}`}`
}

/** Cleans each line after substitution, because a harmless template and title can be harmful together. */
function filler(snapshot: Snapshot): (line: string) => string {
  const values: Readonly<Record<MessagePlaceholder, string>> = {
    number: String(snapshot.pull),
    title: commitTitle(snapshot.title),
    head: snapshot.head,
    author: snapshot.author?.login ?? 'ghost',
  }
  return (line) =>
    commitTitle(
      line.replace(messagePlaceholder, (_all, name: MessagePlaceholder) => values[name]),
      longestLine,
    )
}

/** Fits the longest template title with the longest pull request title. */
const longestLine = 400

/** Trims and collapses empty lines. */
function paragraph(lines: readonly string[]): string[] {
  const text = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return text === '' ? [] : [text]
}

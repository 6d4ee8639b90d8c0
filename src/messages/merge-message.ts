// The message of the merge commit that would land. A function of the snapshot and the configuration, so the commit has
// one id; in what people wrote neither GitHub nor those who build what it is told find a word to act on.
import type { Snapshot } from '../change/snapshot.ts'
import type { Override } from '../gate/overrides.ts'
import {
  messagePlaceholder,
  type MergeMessageTemplate,
  type MessagePlaceholder,
} from '../config/merge-message.ts'
import { commitTitle } from './escape.ts'

/** `overrides`: the rules that a maintainer let the change pass in spite of. */
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

/** Line by line, with what is filled in: a template and a title can be harmless each, and not together. */
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

/** A template of the longest title with the longest title of a pull request in it fits. */
const longestLine = 400

/** Empty lines at either end go, and there is never more than one between. */
function paragraph(lines: readonly string[]): string[] {
  const text = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return text === '' ? [] : [text]
}

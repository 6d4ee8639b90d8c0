// What is said of an examination beside its verdict, made where the change is: a change of many packages is long.
import { changeAsMermaid } from '../change/draw-change.ts'
import { changeAsMarkdown, describeChangeLines } from '../messages/describe-change.ts'
import { describeCommands } from '../messages/describe-commands.ts'
import type { Examination } from './examine.ts'

export interface Told {
  readonly changeLines: readonly string[]
  readonly commandLines: readonly string[]
  readonly graph?: string | undefined
}

export function whatToTell({
  change,
  records,
  snapshot,
  epoch,
}: Pick<Examination, 'change' | 'records' | 'snapshot' | 'epoch'>): Told {
  return {
    changeLines: change.paths.length === 0 ? [] : changeAsMarkdown(describeChangeLines(change)),
    commandLines: describeCommands(records, snapshot.head, epoch),
    graph: changeAsMermaid(change),
  }
}

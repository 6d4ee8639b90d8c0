// What is said of an examination beside its verdict, made where the change is: a change of many packages is long.
import { changeAsMermaid } from '../../change/draw-change.ts'
import { changeAsMarkdown, describeChangeLines } from '../../messages/describe-change.ts'
import { becomingChange, describeBecoming } from '../../messages/describe-becoming.ts'
import { describeCommands } from '../../messages/describe-commands.ts'
import type { Examination } from '../examine.ts'

export interface Told {
  readonly changeLines: readonly string[]
  readonly commandLines: readonly string[]
  readonly graph?: string | undefined
  /** The id of what the change does. */
  readonly change?: string | undefined
}

export function whatToTell({
  change,
  becoming = [],
  records,
  snapshot,
  epoch,
  described,
  isYesToThis,
}: Pick<
  Examination,
  'change' | 'becoming' | 'records' | 'snapshot' | 'epoch' | 'described' | 'isYesToThis'
>): Told {
  return {
    changeLines:
      change.paths.length === 0
        ? []
        : changeAsMarkdown([...describeChangeLines(change), ...describeBecoming(becoming)]),
    commandLines: describeCommands(records, snapshot.head, epoch, isYesToThis),
    graph: changeAsMermaid(change) ?? changeAsMermaid(becomingChange(becoming)),
    change: described?.id,
  }
}

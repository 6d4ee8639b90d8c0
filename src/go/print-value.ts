// Values as one text, part by part and only as far as a limit: neither the depth nor the width of a value costs the
// call stack, and a value that aliases unfold to no end costs no more than the text that is wanted of it.
import type { ListValue, MapValue, Value } from './tree.ts'

export interface ValuePrinter {
  /** In the order of the text: the parts of a list or a map, with the texts between them. */
  readonly partsOf: (value: ListValue | MapValue) => Iterable<Value | string>
  readonly scalar: (value: Exclude<Value, ListValue | MapValue>) => string
}

/** The value's text. Once it is `limit` code units long, nothing is added any more. */
export function printValue(root: Value, { partsOf, scalar }: ValuePrinter, limit: number): string {
  const pieces: string[] = []
  let length = 0
  const open: Iterator<Value | string>[] = [[root].values()]
  for (let top = open.at(-1); top && length < limit; top = open.at(-1)) {
    const next = top.next()
    if (next.done === true) {
      open.pop()
      continue
    }
    const part = next.value
    if (typeof part !== 'string' && (part.kind === 'list' || part.kind === 'map'))
      open.push(partsOf(part)[Symbol.iterator]())
    else {
      const text = typeof part === 'string' ? part : scalar(part)
      pieces.push(text)
      length += text.length
    }
  }
  return pieces.join('')
}

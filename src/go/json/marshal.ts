// JSON as Go's json.Marshal writes it, for text that is put together by hand: fields in the order of the struct, empty ones
// left out where their type says so.

/** Go escapes what a browser might take for markup, and the line separators that JavaScript once did not allow. */
const goEscapes = /[<>&\u2028\u2029]/
const allGoEscapes = /[<>&\u2028\u2029]/g

/** A text in quotes. */
export function marshalString(text: string): string {
  const quoted = JSON.stringify(text.isWellFormed() ? text : text.toWellFormed())
  return goEscapes.test(quoted) ? quoted.replace(allGoEscapes, escaped) : quoted
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** An object of fields that are written already; undefined ones are left out. */
export function marshalObject(fields: Iterable<readonly [key: string, json: string | undefined]>): string {
  let text = ''
  for (const [key, json] of fields)
    if (json !== undefined) text += `${text === '' ? '' : ','}"${key}":${json}`
  return `{${text}}`
}

/** Undefined (`omitempty`) for an empty text. */
export function marshalText(text: string): string | undefined {
  return text === '' ? undefined : marshalString(text)
}

/** Undefined (`omitempty`) for an empty list. */
export function marshalList(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : `[${items.join(',')}]`
}

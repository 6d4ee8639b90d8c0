// `key=value` options of a command.

/** `k=v`, or several of them with commas between; the last of a key counts, as for opm. Throws where there is no key. */
export function parseKeyValues(
  pairs: readonly string[],
  optionName: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs
      .flatMap((text) => text.split(/,(?=[^,=]+=)/))
      .map((text) => {
        const equals = text.indexOf('=')
        if (equals < 1) throw new Error(`invalid ${optionName} "${text}": it must be KEY=VALUE`)
        return [text.slice(0, equals), text.slice(equals + 1)]
      }),
  )
}

// Parses `key=value` options.

/**
 * Each text is `k=v` or several such pairs, separated by commas. As in opm, the last value of a key applies. Throws if a
 * key is missing.
 */
export function parseCommaSeparatedKeyValues(
  pairs: readonly string[],
  optionName: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs
      .flatMap((text) => text.split(/,(?=[^,=]+=)/))
      .map((text) => {
        const equals = text.indexOf('=')
        if (equals < 1) throw new Error(`invalid ${optionName} "${text}": it must have the form KEY=VALUE`)
        return [text.slice(0, equals), text.slice(equals + 1)]
      }),
  )
}

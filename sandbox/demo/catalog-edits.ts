// The edits of catalog files in the demo: text edits, as in an editor. Throws when the text is not as expected.

/** The bundle document of a version, derived from the newest one in the file. */
function copyBundleBlobForVersion(text: string, name: string, from: string, version: string): string {
  const start = text.lastIndexOf('---', text.indexOf(`\nname: ${name}.v${from}\n`))
  const next = text.indexOf('\n---\n', start)
  if (start < 0) throw new Error(`bundle ${name}.v${from} not found`)
  const document = next < 0 ? text.slice(start) : text.slice(start, next + 1)
  return document.replaceAll(from, version)
}

/** Adds a version to the head of its channel: the entry first, and the bundle last in the file. */
export function addVersionToChannelStart(
  text: string,
  name: string,
  version: string,
  replaces: string,
): string {
  const entry = `- name: ${name}.v${version}\n  replaces: ${name}.v${replaces}\n`
  return (
    text.replace('entries:\n', `entries:\n${entry}`) + copyBundleBlobForVersion(text, name, replaces, version)
  )
}

/**
 * Adds a version at the end of its channel, and its bundle before all others. The position differs, but the meaning
 * is the same.
 */
export function addVersionToChannelEnd(
  text: string,
  name: string,
  version: string,
  replaces: string,
): string {
  const entry = `- name: ${name}.v${version}\n  replaces: ${name}.v${replaces}\n`
  const imageOffset = text.indexOf('---\nimage:')
  if (imageOffset < 0) throw new Error('no bundle found')
  const bundle = copyBundleBlobForVersion(text, name, replaces, version)
  return `${text.slice(0, imageOffset)}${bundle}${text.slice(imageOffset)}`.replace(
    'name: stable\npackage:',
    `${entry}name: stable\npackage:`,
  )
}

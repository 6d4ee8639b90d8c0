// The paths that a catalog repository may hold (T06, T08): printable ASCII of limited length. Rejects others, because
// programs may read them differently.

/** Longest real path seen in the public catalog repositories: 180 characters, 8 levels. */
const longestPath = 512
const deepestPath = 24
const longestName = 200

const plain = /^[A-Za-z0-9._+=,@~ ()[\]{}^!#%&$'-]+$/
// Device names and names that some operating systems cannot check out.
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i
const gitDirectory = /^(?:\.git|git~\d+)(?:[ .]*)$/i

/** A reason for people; undefined for an ordinary path. */
export function refusedPathReason(path: string): string | undefined {
  if (path === '') return 'it is empty'
  if (path.length > longestPath) return `it is longer than ${longestPath} characters`

  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'it holds a control character'
  if (path.includes('\\')) return 'it holds a backslash'

  if (/[^\u0000-\u007f]/.test(path)) return 'it holds a character that is not ASCII'
  if (path.startsWith('/')) return 'it begins with a slash'
  const names = path.split('/')
  if (names.length > deepestPath) return `it is deeper than ${deepestPath} levels`
  for (const name of names) {
    if (name === '') return 'it has an empty component'
    if (name === '.' || name === '..') return `it has the component ${name}`
    if (gitDirectory.test(name)) return 'it has a component that git takes for its own'
    if (name.length > longestName) return `it has a component longer than ${longestName} characters`
    if (!plain.test(name)) return 'it holds a character that not every system can store'
    if (/[. ]$/.test(name)) return 'it has a component that ends in a dot or a blank'
    if (/^[- ]/.test(name)) return 'it has a component that begins with a dash or a blank'
    if (device.test(name)) return 'it has the name of a device'
  }
  return undefined
}

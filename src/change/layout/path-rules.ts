// The paths that a catalog repository may hold (T06, T08): printable ASCII of limited length. Rejects others, because
// programs may read them differently.

/** Longest real path seen in the public catalog repositories: 180 characters, 8 levels. */
const maxPathLength = 512
const maxPathDepth = 24
const maxNameLength = 200

const allowedCharactersPattern = /^[A-Za-z0-9._+=,@~ ()[\]{}^!#%&$'-]+$/
// Device names and names that some operating systems cannot check out.
const windowsDevicePattern = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i
const gitDirectoryPattern = /^(?:\.git|git~\d+)(?:[ .]*)$/i

/** A reason for people; undefined for an ordinary path. */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'it is empty'
  if (path.length > maxPathLength) return `it is longer than ${maxPathLength} characters`

  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'it holds a control character'
  if (path.includes('\\')) return 'it holds a backslash'

  if (/[^\u0000-\u007f]/.test(path)) return 'it holds a character that is not ASCII'
  if (path.startsWith('/')) return 'it begins with a slash'
  const names = path.split('/')
  if (names.length > maxPathDepth) return `it is deeper than ${maxPathDepth} levels`
  for (const name of names) {
    if (name === '') return 'it has an empty component'
    if (name === '.' || name === '..') return `it has the component ${name}`
    if (gitDirectoryPattern.test(name)) return 'it has a component that git takes for its own'
    if (name.length > maxNameLength) return `it has a component longer than ${maxNameLength} characters`
    if (!allowedCharactersPattern.test(name)) return 'it holds a character that not every system can store'
    if (/[. ]$/.test(name)) return 'it has a component that ends in a dot or a blank'
    if (/^[- ]/.test(name)) return 'it has a component that begins with a dash or a blank'
    if (windowsDevicePattern.test(name)) return 'it has the name of a device'
  }
  return undefined
}

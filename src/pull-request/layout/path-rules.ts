// The paths that a catalog repository can contain (docs/threats.md#t06 and #t08): printable ASCII of limited length.
// Other paths are rejected, because programs might interpret them differently.

/** The longest path in public catalog repositories has 180 characters and 8 levels. */
const maxPathLength = 512
const maxPathDepth = 24
const maxPathSegmentLength = 200

const allowedPathCharactersPattern = /^[A-Za-z0-9._+=,@~ ()[\]{}^!#%&$'-]+$/
// Device names and names that some operating systems cannot check out.
const windowsDevicePattern = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i
const gitDirectoryPattern = /^(?:\.git|git~\d+)(?:[ .]*)$/i

/** Returns a reason for display, or undefined for a valid path. */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'it is empty'
  if (path.length > maxPathLength) return `it is longer than ${maxPathLength} characters`

  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'it contains a control character'
  if (path.includes('\\')) return 'it contains a backslash'

  if (/[^\u0000-\u007f]/.test(path)) return 'it contains a non-ASCII character'
  if (path.startsWith('/')) return 'it starts with a slash'
  const names = path.split('/')
  if (names.length > maxPathDepth) return `it has more than ${maxPathDepth} levels`
  for (const name of names) {
    if (name === '') return 'it has an empty component'
    if (name === '.' || name === '..') return `it has the component ${name}`
    if (gitDirectoryPattern.test(name)) return 'it has a component that Git reserves'
    if (name.length > maxPathSegmentLength)
      return `it has a component longer than ${maxPathSegmentLength} characters`
    if (!allowedPathCharactersPattern.test(name))
      return 'it contains a character that some operating systems do not support'
    if (/[. ]$/.test(name)) return 'it has a component that ends with a dot or a space'
    if (/^[- ]/.test(name)) return 'it has a component that starts with a dash or a space'
    if (windowsDevicePattern.test(name)) return 'it has a component that is a reserved device name'
  }
  return undefined
}

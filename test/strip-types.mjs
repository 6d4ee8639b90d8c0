// Jest's transform: TypeScript's types are blanked out, as Node does when it runs the same file.
// Lines and columns stay as they are, so no source map is needed.
import { createHash } from 'node:crypto'
import { stripTypeScriptTypes } from 'node:module'

export default {
  canInstrument: false,
  getCacheKey: (source) => createHash('sha1').update(source).update(process.version).digest('hex'),
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
}

import { defineRule } from '../../../findings/rule.ts'

export const packageContentMismatch = defineRule<{
  path: string
  package: string
  home: string
  bundle?: string
}>({
  id: 'package-content-mismatch',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A file declares only packages that its directory holds',
  format: ({ path, package: name, home, bundle }) => ({
    what:
      bundle === undefined
        ? `${path} declares content of package ${name}, which belongs to ${home}`
        : `${path} gives package ${name} the bundle ${bundle}, a name that package ${home} has already`,
    why: 'opm joins what all files say about a package, so such a file would define, extend or remove what others own.',
    fix: `Change it where it belongs, in ${home}, or correct the name in this file.`,
  }),
})

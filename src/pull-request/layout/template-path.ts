// Finds files that look like catalog templates, by the paths and names in public repositories (layouts L1 to L14). The
// result is a hint for display and rendering. It never affects permissions.

const templateFolderNames = new Set(['catalog-templates', 'catalog-template', 'veneer', 'templates'])

export function isTemplatePath(path: string): boolean {
  if (!/\.(?:ya?ml|json)$/.test(path)) return false
  const names = path.split('/')
  const name = names.at(-1) ?? ''
  if (names[0] === 'operators') return names.length === 4 && names[2] === 'catalog-templates'
  if (names.length === 2 && templateFolderNames.has(names[0] ?? '')) return true
  if (names.length <= 4 && /(?:^|[-_])templates?(?:[-_.]|$)/.test(name)) return true
  if (names.length === 1) return name === 'contributions.yaml' || name === 'catalogs.yaml'
  return name === 'graph.yaml' && /^v?\d+[.-]\d+$/.test(names.at(-2) ?? '')
}

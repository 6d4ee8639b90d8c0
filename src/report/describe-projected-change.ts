import type { PullRequestChange } from '../pull-request/change.ts'
import { placeholderRegistryPrefix, type ProjectedCatalog } from '../checks/bundles/projected-catalog.ts'
import { describeChangeLines, type DescriptionLine } from './describe-change.ts'

/** The projected change, without paths of the pull request. */
export function toProjectedChange(projected: readonly ProjectedCatalog[]): PullRequestChange {
  return { paths: [], catalogs: projected.flatMap(({ changes }) => changes), references: [] }
}

/** Empty if nothing changes. */
export function describeProjectedChange(projected: readonly ProjectedCatalog[]): DescriptionLine[] {
  const change = toProjectedChange(projected)
  const isChanged = change.catalogs.some(({ packages }) => packages.length > 0)
  const unknown = projected.flatMap(({ unknown: why }): DescriptionLine[] =>
    why === undefined ? [] : [{ depth: 0, words: ['Could not determine ', { name: why }] }],
  )
  if (!isChanged) return unknown
  const images = new Map(projected.flatMap((one) => one.images.map(({ name, image }) => [name, image])))
  const names = [...images.values()]
  const isNamed = names.some((name) => !name.startsWith(placeholderRegistryPrefix))
  return [
    { depth: 0, words: ['After the bundle images are built and added to the catalogs:'] },
    ...describeChangeLines(change).map((line): DescriptionLine => ({ ...line, depth: 1 })),
    ...(images.size === 0
      ? []
      : [
          {
            depth: 1 as const,
            words: [
              isNamed ? 'expected image: ' : 'image not built yet: ',
              ...names.slice(0, 3).map((name) => ({ name })),
            ].flatMap((segment, at) => (at > 1 ? [', ', segment] : [segment])),
          },
        ]),
    ...unknown,
  ]
}

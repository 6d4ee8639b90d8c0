// `/badge/O/R.svg`: a status line for a repository's README. Contains no external text.
import { htmlTemplate, convertHtmlToString } from '../html.ts'

export interface BadgeModel {
  readonly open: number
  readonly stops: number
}

const badgeLabel = 'catalog-bot'
const badgeCharWidthPixels = 6.6

export function renderBadge({ open, stops }: BadgeModel): string {
  const message = stops > 0 ? 'merging is frozen' : open === 0 ? 'no open pull requests' : `${open} open`
  const [left, right] = [badgeLabel, message].map(
    (text) => Math.round(text.length * badgeCharWidthPixels) + 12,
  ) as [number, number]
  const color = stops > 0 ? '#a40e26' : '#116329'
  return convertHtmlToString(
    htmlTemplate`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${badgeLabel}: ${message}"><title>${badgeLabel}: ${message}</title><rect width="${left}" height="20" rx="3" fill="#57606a" /> <rect x="${left}" width="${right}" height="20" rx="3" fill="${color}" /> <rect x="${left - 3}" width="6" height="20" fill="${color}" /> <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"> <text x="6" y="14">${badgeLabel}</text> <text x="${left + 6}" y="14">${message}</text> </g> </svg>`,
  )
}

/** The product name and configuration keys such as `merge.method` keep their case. */
export const capitalizeFirstLetter = (text: string): string =>
  /^(?:catalog-bot\b|\w+\.\w)/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Adds a period unless the text already ends a sentence. */
export const endWithPeriod = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

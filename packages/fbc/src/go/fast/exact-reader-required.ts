/** Thrown only inside the fast reader: the exact reader must read this document. */
export const exactReaderRequiredError = new Error('hand over to the exact reader')

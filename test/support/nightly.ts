/** Whether tests with much to repeat play their long form: `npm run nightly`. */
export const isNightly: boolean = process.env["NIGHTLY"] === "1"

// Package paypal reads what PayPal settled: the settlement report files STL-yyyymmdd.xx.NNN.CSV, made of records RH FH SH CH SB SF SC RF RC
// FF (providers.md §2.3). All amounts in them are unsigned hundredths, of every currency, with CR or DR beside them.
package paypal
